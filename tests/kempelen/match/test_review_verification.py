"""Mistakes and blunders are shown only if they remain after a longer search."""

from typing import Any

import pytest

from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.review import chess_review
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.chess_review import analyse_chess, parse_pgn
from kempelen.match.review.go_review import analyse_go, parse_sgf
from kempelen.match.review.move_annotation import MoveQuality, PositionEval
from kempelen.match.review.parsed_game import VERIFIED_QUALITIES
from protocols.katago_analysis.protocol import Settings
from tests.support import BLUNDER_SGF

OWN = EngineSettings("chess", "Kempelen", protocol=EngineProtocol.AGENT)
# The end of Morphy's Opera game.
OPERA = """[FEN "3rkb1r/p2nqppp/5n2/1B2p1B1/4P3/1Q6/PPP2PPP/2KR3R w k - 3 13"]
[SetUp "1"]

13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0
"""
# The end of Réti - Tartakower, Vienna 1910.
RETI = """[FEN "rnb1kb1r/pp3ppp/2p2n2/4q3/4N3/3Q4/PPPB1PPP/R3KBNR w KQkq - 0 8"]
[SetUp "1"]

8. O-O-O Nxe4 9. Qd8+ Kxd8 10. Bg5+ Kc7 11. Bd8# 1-0
"""


async def review(
    text: str, evals: Any, monkeypatch: pytest.MonkeyPatch, preferred: int = -1
) -> tuple[list[MoveQuality], list[tuple[int, int | None]]]:
    """Review a game with a fake engine. Return the grades, and the plies and nodes of searches.

    The short search prefers the move that was played after `preferred` plies.
    """
    searched: list[tuple[int, int | None]] = []

    async def evaluate(
        runner: Any, game: Any, ply: int, outcome: Any, limits: TimeControl
    ) -> PositionEval:
        searched.append((ply, limits.nodes))
        line = (game.moves[ply],) if ply == preferred and limits.nodes == 100 else ()
        return PositionEval(evals(ply, limits.nodes), line=line, nodes=limits.nodes or 0)

    monkeypatch.setattr(chess_review, "_evaluate", evaluate)
    (game,) = parse_pgn(text, "PGN")
    known = AnalysisFile(None, "")
    await analyse_chess([game], OWN, TimeControl(nodes=100), known)
    return [move.grade for move in game.review(known).moves], searched


async def test_refuted_blunder_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The short search rates the position after the third move far better for the opponent."""
    grades, searched = await review(
        "1. e4 e5 2. Qh5 Nc6 *",
        lambda ply, nodes: 0.9 if (ply, nodes) == (3, 100) else 0.5,
        monkeypatch,
    )
    assert grades == [MoveQuality.GOOD] * 4
    assert sorted(searched[:5]) == [(ply, 100) for ply in range(5)]
    assert (2, 1000) in searched
    assert (3, 1000) in searched
    assert len(searched) == len(set(searched))


async def test_confirmed_blunder_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    grades, searched = await review(
        "1. e4 e5 2. Ba6 *", lambda ply, nodes: 0.9 if ply == 3 else 0.5, monkeypatch
    )
    assert grades == [MoveQuality.GOOD, MoveQuality.GOOD, MoveQuality.BLUNDER]
    assert sorted(searched[4:]) == [(2, 1000), (3, 1000)]


async def test_blunder_that_the_short_search_preferred_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grades, searched = await review(
        "1. e4 e5 2. Ba6 *", lambda ply, nodes: 0.9 if ply == 3 else 0.5, monkeypatch, preferred=2
    )
    assert grades[2] is MoveQuality.BLUNDER
    assert sorted(searched[4:]) == [(2, 1000), (3, 1000)]


async def test_search_is_not_verified_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resumed analysis knows the results of the verification."""
    known = AnalysisFile(None, "")
    (game,) = parse_pgn("1. e4 e5 2. Ba6 *", "PGN")
    for ply, key in enumerate(game.keys(known)):
        known.add(key, PositionEval(0.9 if ply == 3 else 0.5, nodes=1000))

    async def fail(*arguments: Any) -> PositionEval:
        raise AssertionError("searched again")

    monkeypatch.setattr(chess_review, "_evaluate", fail)
    await analyse_chess([game], OWN, TimeControl(nodes=100), known)
    assert game.review(known).moves[2].grade is MoveQuality.BLUNDER


async def test_mistakes_in_go_are_verified() -> None:
    (game,) = parse_sgf(BLUNDER_SGF, "SGF")
    known = AnalysisFile(None, "")
    await analyse_go([game], Settings(), TimeControl(nodes=150), known)
    bad = [move for move in game.review(known).moves if move.grade in VERIFIED_QUALITIES]
    assert 1 in [move.ply for move in bad]
    keys = game.keys(known)
    for ply in {ply for move in bad for ply in (move.ply - 1, move.ply)}:
        found = known.get(keys[ply])
        assert found is not None
        assert found.nodes >= 1500


@pytest.mark.thorough
async def test_move_that_allows_a_sacrifice_with_mate_is_a_blunder() -> None:
    (game,) = parse_pgn(RETI, "PGN")
    known = AnalysisFile(None, "")
    await analyse_chess([game], OWN, TimeControl(nodes=150_000), known)
    capture = game.review(known).moves[1]
    assert (capture.move, capture.grade) == ("Nxe4", MoveQuality.BLUNDER)


@pytest.mark.thorough
async def test_sacrifice_that_mates_is_not_called_a_blunder() -> None:
    (game,) = parse_pgn(OPERA, "PGN")
    known = AnalysisFile(None, "")
    await analyse_chess([game], OWN, TimeControl(nodes=60_000), known)
    sacrifice = game.review(known).moves[4]
    assert sacrifice.move == "Bxd7+"
    assert sacrifice.grade not in VERIFIED_QUALITIES
