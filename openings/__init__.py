"""Knowledge kept on disk: opening books to edit and to play from, and endgame tables."""
