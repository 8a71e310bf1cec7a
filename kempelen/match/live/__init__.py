"""Publish the live state of a tournament in a file and over MQTT."""
