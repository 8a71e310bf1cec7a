"""Tournament formats, schedules and pairings."""
