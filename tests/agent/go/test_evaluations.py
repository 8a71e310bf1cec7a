"""User evaluations in the Go search: plain or compiled, and failing ones."""

from pathlib import Path

import pytest

from agent.evaluation import Evaluation, EvaluationError, load
from agent.games.go import Go
from agent.games.stones import PASS
from agent.go.search import GoSearch
from agent.go.settings import SETTING_INDEX
from agent.kernel.backend import SearchConfig
from agent.kernel.mcts_tree import ROOT
from agent.limits import Limits
from tests.agent.go.evaluations import POINT_EVALUATIONS
from tests.agent.go.positions import at
from tests.support import last_info

OWN = f"""{POINT_EVALUATIONS}
@evaluator
def raises(worker, ply):
    if worker.nodes > 100:
        raise ValueError("no good")
    return 0

@evaluator
def divides(worker, ply):
    return 1 // (worker.nodes - 50)

@evaluator
def nan(worker, ply):
    return float("nan")

def plain_nan(game):
    return float("nan")

def plain_raises(game):
    if game.stones.board[POINT]:
        raise ValueError("no good")
    return 0

def text(game):
    return "much"
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("evaluations") / "own.py"
    path.write_text(OWN)
    return path


def searching(
    evaluation: Evaluation | None, share: float = 1.0, threads: int = 1, seed: int = 1
) -> GoSearch:
    search = GoSearch(SearchConfig(threads=threads, megabytes=4, seed=seed), evaluation)
    for board in search._workers:
        board.worker.settings[SETTING_INDEX["evaluation_share"]] = share
    return search


@pytest.mark.parametrize("name", ["point", "compiled_point"])
@pytest.mark.parametrize("share", [1.0, 0.9])
def test_user_evaluation_replaces_or_supplements_playouts(
    file: Path, name: str, share: float
) -> None:
    game = Go(7)
    search = searching(load(f"{file}:{name}"), share)
    info = last_info(search, game, Limits(nodes=1500))
    assert info.pv[0] == at(game, "C5")
    assert info.expected_outcome is not None
    assert info.expected_outcome > 0.5
    # Playouts alone prefer C5 only by chance.
    searches = [searching(None, seed=seed) for seed in (1, 2, 3)]
    chosen = {last_info(each, game, Limits(nodes=1500)).pv[0] for each in searches}
    assert chosen != {at(game, "C5")}


@pytest.mark.parametrize("threads", [1, 2])
def test_user_evaluation_works_for_white(file: Path, threads: int) -> None:
    game = Go(7)
    game.play(at(game, "D4"))
    for name in ("point", "compiled_point"):
        info = last_info(
            searching(load(f"{file}:{name}"), threads=threads), game, Limits(nodes=1500)
        )
        assert info.pv[0] == at(game, "C5")
        assert info.expected_outcome is not None
        assert info.expected_outcome > 0.5


def test_plain_and_compiled_evaluations_give_the_same_search(file: Path) -> None:
    game, found = Go(7), []
    for name in ("point", "compiled_point"):
        search = searching(load(f"{file}:{name}"))
        last_info(search, game, Limits(nodes=500))
        pool = search._pool
        found.append([(pool.move(c), pool.visits(c), pool.mean(c)) for c in visited(search)])
    assert found[0] == found[1]


def visited(search: GoSearch) -> list[int]:
    return [child for child in search._pool.children(ROOT) if search._pool.visits(child)]


def test_evaluation_with_share_zero_changes_nothing(file: Path) -> None:
    game, found = Go(7), []
    for evaluation in (None, load(f"{file}:compiled_point")):
        search = searching(evaluation, 0.0)
        last_info(search, game, Limits(nodes=500))
        found.append([(search._pool.move(c), search._pool.visits(c)) for c in visited(search)])
    assert found[0] == found[1]


def test_plain_evaluation_gets_the_game_with_its_history() -> None:
    """The game of the caller is not changed."""
    lines = set()

    def look(game: Go) -> float:
        states = game._states
        line = tuple(state.move for state in states[1:])
        lines.add(line)
        replayed = Go(game.size, game.komi)
        for move in line:
            assert move in replayed.moves()
            replayed.play(move)
        assert replayed.key() == game.key()
        return 0.0

    game = Go(5)
    for text in ("C3", "B2"):
        game.play(at(game, text))
    key = game.key()
    last_info(searching(Evaluation("look", python=look)), game, Limits(nodes=300))
    assert game.key() == key
    assert len(lines) > 50
    assert {line[:2] for line in lines} == {(at(game, "C3"), at(game, "B2"))}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("raises", "raises failed: ValueError: no good"),
        ("divides", "divides failed: ZeroDivisionError"),
        ("nan", "nan failed: ValueError: it returned NaN"),
        ("plain_raises", "plain_raises failed: ValueError: no good"),
        ("plain_nan", "plain_nan failed: "),
        ("text", "text failed: "),
    ],
)
def test_evaluation_error_ends_only_the_current_search(
    file: Path, name: str, reason: str, threads: int
) -> None:
    search = searching(load(f"{file}:{name}"), threads=threads)
    game = Go(7)
    with pytest.raises(EvaluationError, match=reason):
        last_info(search, game, Limits(nodes=100_000))
    search._set_root(game, Limits())
    assert search._pool.visits(ROOT) == 0, "the tree is dropped"
    if name in ("raises", "plain_raises"):
        game = Go(7)
        chosen = (PASS,) if name == "plain_raises" else ()
        info = last_info(search, game, Limits(nodes=3, search_moves=chosen))
        assert info.pv[0] in game.moves()
        assert info.complete


@pytest.mark.parametrize(("value", "bound"), [(1e300, 1.0), (-1e300, 1.0), (0.25, 0.3)])
def test_evaluations_are_mapped_between_loss_and_win(value: float, bound: float) -> None:
    """The value is for the side to move at the leaf; small values stay proportional."""
    game = Go(5)
    chosen = (at(game, "C3"),)
    evaluation = Evaluation("great", python=lambda leaf: value if leaf.turn else -value)
    info = last_info(searching(evaluation), game, Limits(nodes=50, search_moves=chosen))
    assert info.expected_outcome is not None
    assert -bound <= info.expected_outcome <= bound
    assert (info.expected_outcome > 0) == (value < 0)
    assert abs(info.expected_outcome) > bound / 2
