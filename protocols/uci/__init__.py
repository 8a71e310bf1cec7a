"""The Universal Chess Interface (UCI)."""
