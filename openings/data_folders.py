"""Paths to the user's data folders."""

from pathlib import Path

from agent.io.user_folders import user_folder

DATA_VARIABLE = "KEMPELEN_DATA_DIR"


def data_folder() -> Path:
    """Return the path to the user's data folder, which may not exist.

    Raise `NoHomeFolderError` if the folder depends on the home folder, which is unknown.
    """
    return user_folder(DATA_VARIABLE, "data")


def table_folder() -> Path:
    """Return the path to the user's tablebase folder, which may not exist."""
    return data_folder() / "tables"
