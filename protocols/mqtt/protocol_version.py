import asyncio
import contextlib

from protocols.mqtt.broker import Broker

REPLY_TIMEOUT_S = 5.0
CONNACK = 0x20
# A CONNECT packet of version 5 without properties, so that a 3.1.1 broker can parse it too.
CONNECT_PACKET = b"\x10\x0d\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x00"
# An MQTT 5 broker answers with flags, a reason and the length of its properties. A 3.1.1 broker
# sends no length.
MIN_CONNACK_LENGTH = 3


async def supports_mqtt5(broker: Broker) -> bool:
    """Return True if a broker supports MQTT 5, or False if it supports only MQTT 3.1.1.

    Raise OSError or TimeoutError if the broker is unreachable.
    """
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
        return False  # A 3.1.1 broker has closed the connection.
    finally:
        writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await writer.wait_closed()
