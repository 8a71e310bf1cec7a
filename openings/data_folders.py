"""Where the user's data lie. Nothing heavy is imported here."""

import os
from pathlib import Path

DATA_VARIABLE = "KEMPELEN_DATA_DIR"


def data_folder() -> Path:
    """Return the folder of the user's data; it need not exist."""
    base = os.environ.get(DATA_VARIABLE)
    if not base:
        from platformdirs import user_data_path

        return user_data_path("kempelen", appauthor=False)
    return Path(base).expanduser()


def table_folder() -> Path:
    """Return the folder of the user's endgame tables; it need not exist."""
    return data_folder() / "tables"
