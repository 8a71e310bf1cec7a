"""Which MQTT a broker speaks: 5, which tells more, or 3.1.1."""

import asyncio
import contextlib

from protocols.mqtt.broker import Broker

REPLY_TIMEOUT_S = 5.0
CONNACK = 0x20
# CONNECT of version 5 with nothing in it. A broker of 3.1.1 that takes it for its own can read it,
# which it cannot one with properties.
CONNECT_PACKET = b"\x10\x0d\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x00"
# What version 5 answers at least: flags, reason, length of properties. 3.1.1 has no third.
MIN_CONNACK_LENGTH = 3


async def supports_mqtt5(broker: Broker) -> bool:
    """Return whether a broker speaks MQTT 5; OSError or TimeoutError if nobody answers."""
    async with asyncio.timeout(REPLY_TIMEOUT_S):
        reader, writer = await asyncio.open_connection(
            broker.host, broker.port, ssl=broker.tls_context()
        )
    try:
        async with asyncio.timeout(REPLY_TIMEOUT_S):
            writer.write(CONNECT_PACKET)
            kind, length = await reader.readexactly(2)
            return kind == CONNACK and length >= MIN_CONNACK_LENGTH
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return False  # it hung up, as one of 3.1.1 may
    finally:
        writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await writer.wait_closed()
