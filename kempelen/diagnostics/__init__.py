"""Checks of the installation for `kempelen doctor`."""
