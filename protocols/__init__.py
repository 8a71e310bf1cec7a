"""Text protocols for front ends, servers and engines."""
