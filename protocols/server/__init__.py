"""A network server for the text protocols. Many sessions run in one process."""
