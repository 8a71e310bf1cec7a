"""Safe I/O for files, untrusted text and user code."""
