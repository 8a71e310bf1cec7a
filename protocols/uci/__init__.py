"""The Universal Chess Interface."""
