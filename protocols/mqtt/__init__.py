"""MQTT for live tournaments, and for bots that receive move requests through a broker.

The broker may use MQTT 5 or 3.1.1. Payloads are JSON objects, which schema.json describes. Topics
begin with `kempelen/v1`.
"""
