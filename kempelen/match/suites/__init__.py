"""Test engines with EPD positions and GTP regression files."""
