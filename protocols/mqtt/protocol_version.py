import asyncio
import contextlib
import ssl

from protocols.mqtt.broker import Broker

REPLY_TIMEOUT_S = 5.0
CONNACK = 0x20
TLS_ALERT = 0x15
# A CONNECT packet of version 5 without properties, so that a 3.1.1 broker can parse it too.
CONNECT_PACKET = b"\x10\x0d\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x00"
# An MQTT 5 broker answers with flags, a reason and the length of its properties. A 3.1.1 broker
# sends no length.
MIN_CONNACK_LENGTH = 3


async def supports_mqtt5(broker: Broker) -> bool:
    """Return True if a broker supports MQTT 5, or False if it supports only MQTT 3.1.1.

    Raise OSError or TimeoutError if the broker is unreachable, or if its port is of another kind.
    """
    async with asyncio.timeout(REPLY_TIMEOUT_S):
        try:
            reader, writer = await asyncio.open_connection(
                broker.host, broker.port, ssl=broker.tls_context()
            )
        except ssl.SSLCertVerificationError:
            raise
        except (ssl.SSLError, ConnectionAbortedError, ConnectionResetError) as error:
            # A broker that sends a TLS alert uses TLS, but for example another version of it.
            if not broker.tls or "ALERT" in (getattr(error, "reason", None) or ""):
                raise
            raise ConnectionError("not a TLS port (use mqtt://, or another port)") from None
    try:
        async with asyncio.timeout(REPLY_TIMEOUT_S):
            writer.write(CONNECT_PACKET)
            kind, length = await reader.readexactly(2)
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return False  # A 3.1.1 broker has closed the connection.
    finally:
        writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await writer.wait_closed()
    if kind == TLS_ALERT:
        raise ConnectionError("the port requires TLS (use mqtts://)")
    if kind != CONNACK:
        raise ConnectionError("not an MQTT broker (use another port)")
    return length >= MIN_CONNACK_LENGTH
