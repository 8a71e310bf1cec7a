"""Engines and bots as players in a match."""
