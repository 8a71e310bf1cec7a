"""Reproduce the tables and figures of the Spanish lecture notes that the lab follows."""
