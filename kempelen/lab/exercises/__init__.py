"""Generate and mark exercises about search trees, and write them to files."""
