"""Server addresses and tokens. Tokens are read only from the environment or a file."""

from __future__ import annotations

import os
import ssl

from agent.io.text_files import read_text
from protocols.server.addresses import Address

TOKEN_VARIABLE = "KEMPELEN_TOKEN"
MAX_TOKEN_FILE_BYTES = 4 << 10


class CredentialsError(ValueError):
    """A server address or token is invalid. The message says how to fix the problem."""


def read_address(text: str) -> Address:
    """Parse a server address. Raise CredentialsError if it is invalid or contains a token."""
    if "@" in text:  # Do not print the part before it, which may be a token.
        raise CredentialsError(
            f"server address: must not contain a token (use {TOKEN_VARIABLE} or --token-file)"
        )
    try:
        return Address.from_text(text)
    except ValueError as error:
        raise CredentialsError(str(error)) from None


def read_certificates(path: str | None) -> ssl.SSLContext:
    """Return a TLS context that trusts the file `path`, or the system's certificates if None."""
    try:
        return ssl.create_default_context(cafile=path)
    except OSError as error:  # includes ssl.SSLError
        raise CredentialsError(f"certificates {path}: {error.strerror or error}") from None


def read_token(path: str | None, variable: str = TOKEN_VARIABLE) -> str | None:
    """Return the token in the file `path`, or by default in the environment variable `variable`.

    Return None if the variable is not set. Raise CredentialsError if the file is unreadable or
    the token is not a single word.
    """
    source = path or variable
    if path is None:
        text = os.environ.get(variable, "")
        if not text:
            return None
    else:
        try:
            text = read_text(path, MAX_TOKEN_FILE_BYTES, pipes=True)
        except OSError as error:
            raise CredentialsError(f"token file {path}: {error.strerror}") from None
    token = text.strip()
    if not token.isascii() or not token.isprintable() or len(token.split()) != 1:
        raise CredentialsError(f"{source}: invalid token (expected a single word)")
    return token
