"""The sources whose messages can reach a user of the lab."""

from pathlib import Path

from tests.kempelen.message_templates import ROOT

# The rest of chess belongs to the engine.
FOLDERS = ("agent/search", "agent/learning", "agent/games", "kempelen/lab")
FILES = (
    "agent/evaluation_loading.py",
    "agent/evaluation_types.py",
    "agent/game.py",
    "agent/io/user_code.py",
    "kempelen/console/game_arguments.py",
    "kempelen/console/game_options.py",
    "kempelen/console/argument_types.py",
    "kempelen/console/pictures.py",
    "kempelen/training/checkpoint_file.py",
    "kempelen/training/game_trainer.py",
    "kempelen/training/recorded_games.py",
)


def sources() -> list[Path]:
    folders = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    folders = [file for file in folders if not file.name.startswith("opponent_")]
    return folders + [ROOT / file for file in FILES]
