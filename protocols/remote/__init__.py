"""Remote engines: a client for Kempelen servers and an engine provider for lichess.org."""
