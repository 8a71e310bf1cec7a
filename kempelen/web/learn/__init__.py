"""The page for learning, which shows exported pages of the lab."""
