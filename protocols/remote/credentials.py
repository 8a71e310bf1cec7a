"""Which server, and which secret opens it. Secrets come from the environment or a file."""

from __future__ import annotations

import os

from agent.io.files import read_text
from protocols.server.addresses import Address

TOKEN_VARIABLE = "KEMPELEN_TOKEN"
MAX_TOKEN_FILE_BYTES = 4 << 10


class CredentialsError(ValueError):
    """A server that cannot be addressed as asked; the message names the remedy."""


def read_address(text: str) -> Address:
    """Return the address of a server; CredentialsError for what is none, or holds a secret."""
    if "@" in text:  # what stands before it is not shown
        raise CredentialsError(
            f"no token in the address of a server: set {TOKEN_VARIABLE}, or name a file by --token-file"
        )
    try:
        return Address.from_text(text)
    except ValueError as error:
        raise CredentialsError(str(error)) from None


def read_token(path: str | None, variable: str = TOKEN_VARIABLE) -> str | None:
    """Return the token in a file, else that of the environment, or None.

    Raises CredentialsError for a file that cannot be read or holds anything but one word.
    """
    place = path or variable
    if path is None:
        text = os.environ.get(variable, "")
        if not text:
            return None
    else:
        try:
            text = read_text(path, MAX_TOKEN_FILE_BYTES, pipes=True)
        except (OSError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            raise CredentialsError(f"token file {path}: {why}") from None
    token = text.strip()
    if not token.isascii() or not token.isprintable() or len(token.split()) != 1:
        raise CredentialsError(f"{place}: expected a token, one word and nothing else")
    return token
