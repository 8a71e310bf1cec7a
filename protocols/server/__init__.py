"""Sessions of the text protocols over the network: many at once, in one process."""
