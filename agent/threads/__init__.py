"""Threads: one that does what is asked of it in order, latches, code that can be given up."""
