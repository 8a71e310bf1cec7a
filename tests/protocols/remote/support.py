"""A scripted server in the tests' process, a front end, and certificates."""

import contextlib
import queue
import socket
import ssl
import threading
import time

from protocols.remote.engine import RemoteEngine
from protocols.remote.line_channel import LineChannel
from protocols.remote.uci import UciProxy
from protocols.server.addresses import Address
from tests.waiting import PATIENCE

LIMIT = PATIENCE


class Peer:
    """The server's end of one connection."""

    def __init__(self, stream):
        self._stream = stream
        self._file = stream.makefile("rb")

    def read(self):
        """Return the client's next line, None at the end; answers uci and isready."""
        with contextlib.suppress(OSError, ValueError):
            if line := self._file.readline().decode().rstrip("\n"):
                self.say(*{"uci": ("id name Far", "uciok"), "isready": ("readyok",)}.get(line, ()))
                return line
        return None

    def read_to(self, word):
        """Read up to a line that begins with a word, and return the lines."""
        lines = []
        while (line := self.read()) is not None:
            lines.append(line)
            if line.split()[:1] == [word]:
                break
        return lines

    def say(self, *lines):
        with contextlib.suppress(OSError):
            self._stream.sendall("".join(f"{line}\n" for line in lines).encode())

    def greet(self):
        """Act as a UCI engine up to the proxy's isready."""
        self.read_to("uci")

    def close(self):
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        self._stream.close()
        self._file.close()


class ScriptedServer:
    """Runs the next script for each connection, and the last one for all others."""

    def __init__(self, *scripts, tls=None, port=0):
        self._scripts = list(scripts)
        self._tls = tls
        self._peers = []
        self.visits = 0
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Close the server and all its connections."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(LIMIT)
        for peer, thread in self._peers:
            peer.close()
            thread.join(LIMIT)
            assert not thread.is_alive()

    def _accept(self):
        while True:
            try:
                stream, _ = self._socket.accept()
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError:
                return
            if self._tls is not None:
                try:
                    stream.settimeout(LIMIT)
                    stream = self._tls.wrap_socket(stream, server_side=True)
                except OSError:
                    stream.close()
                    continue
            script = self._scripts[min(self.visits, len(self._scripts) - 1)]
            self.visits += 1
            peer = Peer(stream)
            thread = threading.Thread(target=self._play, args=(script, peer))
            self._peers.append((peer, thread))
            thread.start()

    def _play(self, script, peer):
        try:
            script(peer)
        finally:
            peer.close()


class Front:
    """A front end of a RemoteEngine. heard: its lines; reports: messages to the user."""

    def __init__(self, port, proxy=None, *, timeout=LIMIT, token=None, trust=None, scheme="tcp"):
        self.heard = queue.Queue()
        self.reports = []
        self.ended = threading.Event()
        address = Address(scheme, "127.0.0.1", port)
        self.engine = RemoteEngine(
            proxy or UciProxy(timeout),
            lambda seconds: LineChannel(address, "uci", trust, token, seconds),
            self._hear,
            self.reports.append,
            self.ended.set,
            timeout,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.engine.close(1.0)

    def say(self, *lines):
        for line in lines:
            assert list(self.engine.handle_line(line)) == []

    def hear(self, start, limit=LIMIT):
        """Return the lines up to one that starts with `start`."""
        lines, deadline = [], time.monotonic() + limit
        while True:
            try:
                lines.append(self.heard.get(timeout=max(deadline - time.monotonic(), 0)))
            except queue.Empty:
                raise AssertionError(f"no {start} after {lines}") from None
            if lines[-1].startswith(start):
                return lines

    def _hear(self, text):
        for line in text.split("\n"):
            self.heard.put(line)


def certificate(folder, *names):
    """Issue a certificate for the names, or for localhost; return the certificate and key files.

    The certificate file includes the authority's certificate, so that a client can trust it.
    """
    import trustme

    authority = trustme.CA()
    issued = authority.issue_cert(*(names or ("localhost", "127.0.0.1")))
    pem, key = folder / "certificate.pem", folder / "key.pem"
    issued.private_key_pem.write_to_path(key)
    for part in (*issued.cert_chain_pems, authority.cert_pem):
        part.write_to_path(pem, append=True)
    return pem, key


def serving(folder, *names):
    """Return the TLS context of a server, and that of a client that trusts it."""
    pem, key = certificate(folder, *names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    return context, ssl.create_default_context(cafile=pem)
