"""Review games by rating and annotating every move."""
