"""The compiled Connect Four search."""
