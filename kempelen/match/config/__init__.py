"""The settings of a tournament, from YAML and from the command line."""
