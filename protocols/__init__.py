"""Text in, text out: the protocols that front ends speak."""
