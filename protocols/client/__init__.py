"""Clients for external engines, including faulty engines."""
