"""Tournament settings from YAML files and command-line flags."""
