"""Live state of a tournament, in files and over MQTT."""
