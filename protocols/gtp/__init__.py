"""The Go Text Protocol, version 2, for Go and for every other game."""
