"""Knowledge kept on disk: endgame tables, where they lie and how they are built."""
