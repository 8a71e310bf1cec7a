"""A whole game in xboard, which speaks to the engine through polyglot."""

import os
import signal
import subprocess
import sys

import chess.pgn

from agent.compiled.kernel import CACHE_VARIABLE, cache_folder
from tests.support import program

PROGRAMS = "xvfb-run xboard polyglot".split()  # noqa: SIM905
PATH = os.environ["PATH"] + os.pathsep + "/usr/games"


def test_a_whole_game_in_xboard(warm_cache, tmp_path, thorough):
    for name in PROGRAMS:
        program(name)
    engine = tmp_path / "engine"
    engine.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kempelen.cli uci\n')
    engine.chmod(0o755)
    game_file = tmp_path / "game.pgn"
    cache = cache_folder().parent  # which moves with HOME otherwise
    match = (
        f"-cp -fUCI -fcp {engine} -sUCI -scp {engine} -tc 0:02 -inc 0.05 -mg 1 -sgf {game_file} "
        f"-popupExitMessage false {'-ponder' if thorough else '-xponder -depth 3'}"
    )
    process = subprocess.Popen(
        ["xvfb-run", "-a", "xboard", *match.split()],
        env=os.environ | {"PATH": PATH, "HOME": str(tmp_path), CACHE_VARIABLE: str(cache)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert process.wait(180) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    with game_file.open() as file:
        game = chess.pgn.read_game(file)
    assert game.errors == []
    assert "Kempelen" in game.headers["White"]
    assert game.headers["Result"] in ("1-0", "0-1", "1/2-1/2")
    ending = game.end()
    assert "illegal" not in ending.comment.lower()
    assert "forfeit" not in ending.comment.lower()
    assert ending.board().is_game_over(claim_draw=True), ending.comment
