"""Certificates and tokens for servers."""

import ssl
from pathlib import Path
from typing import NamedTuple

import pytest

from protocols.server.tokens import new_token


class Certified(NamedTuple):
    """A server's certificate and key files, and the TLS contexts of both sides."""

    certificate: str
    key: str
    server: ssl.SSLContext
    client: ssl.SSLContext


@pytest.fixture(scope="session")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    import trustme  # only the TLS tests need it

    folder = tmp_path_factory.mktemp("certificates")
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    certificate, key = str(folder / "certificate.pem"), str(folder / "key.pem")
    issued.private_key_pem.write_to_path(key)
    for part in issued.cert_chain_pems:
        part.write_to_path(certificate, append=True)
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(certificate, key)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return Certified(certificate, key, server, client)


class Tokens(NamedTuple):
    path: str
    alice: str
    bob: str


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    path = str(tmp_path / "tokens")
    return Tokens(path, new_token(path, "alice"), new_token(path, "bob"))
