"""Engines that play elsewhere: the client of a server, and the provider of lichess's boards."""
