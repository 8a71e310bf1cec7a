"""Version 2 of the Go Text Protocol (GTP), for Go and all other games."""
