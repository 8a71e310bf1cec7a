"""Opening books and endgame tablebases."""
