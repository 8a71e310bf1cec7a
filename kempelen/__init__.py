"""The commands of Kempelen, with its matches, web server, lab and training."""

__version__ = "0.2.0"
