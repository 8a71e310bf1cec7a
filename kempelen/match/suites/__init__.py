"""Test suites: EPD positions and GTP regression files."""
