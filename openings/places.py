"""Where the user's data lie. Nothing heavy is imported here."""

import os
from pathlib import Path

DATA_VARIABLE = "KEMPELEN_DATA_DIR"


def table_folder() -> Path:
    """Return the folder of the user's endgame tables; it need not exist."""
    base = os.environ.get(DATA_VARIABLE)
    if not base:
        from platformdirs import user_data_path

        return user_data_path("kempelen", appauthor=False) / "tables"
    return Path(base).expanduser() / "tables"
