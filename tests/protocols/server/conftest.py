"""Certificates and tokens for servers."""

from tests.protocols.server.credentials import certified, tokens  # noqa: F401
