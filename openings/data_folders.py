"""Paths to the user's data folders."""

import os
from pathlib import Path

DATA_VARIABLE = "KEMPELEN_DATA_DIR"


def data_folder() -> Path:
    """Return the path to the user's data folder, which may not exist."""
    base = os.environ.get(DATA_VARIABLE)
    if not base:
        from platformdirs import user_data_path

        return user_data_path("kempelen", appauthor=False)
    return Path(base).expanduser()


def table_folder() -> Path:
    """Return the path to the user's tablebase folder, which may not exist."""
    return data_folder() / "tables"
