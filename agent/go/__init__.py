"""The compiled Go search."""
