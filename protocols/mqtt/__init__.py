"""MQTT: live tournaments, and bots that answer over a broker. MQTT 5 or 3.1.1, JSON payloads.

Topics begin with `kempelen/v1`; schema.json describes every payload.
"""
