"""MQTT (5 or 3.1.1) for live tournaments and for bots that receive move requests.

Payloads are JSON objects, which schema.json describes. Topics begin with `kempelen/v1`.
"""
