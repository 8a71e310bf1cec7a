"""Small games that implement the `Game` interface, one per module."""
