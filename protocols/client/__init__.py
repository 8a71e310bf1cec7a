"""Clients for external UCI, xboard and GTP engines."""
