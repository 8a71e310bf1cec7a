"""Monte Carlo tree search with a batched evaluation of leaves."""

from typing import Any

import numpy as np
import pytest

from agent.backends import create_backend
from agent.evaluation import Evaluation, EvaluationError, load
from agent.game import Game
from agent.games import catalogue
from agent.games.batch_evaluation import BatchEvaluation
from agent.games.game_batch import GameBatch
from agent.games.nim import Nim
from agent.games.policy_value_net import PolicyValueNet
from agent.games.position_encoding import encoding_for
from agent.games.tic_tac_toe import TicTacToe
from agent.limits import Limits
from agent.search.algorithms.mcts import UCB1, UCT, Node, UCTOptions
from agent.search.defaults import default_algorithm, make_search
from agent.search.searcher import GameSearcher
from tests.support import played

END = 999


class Judge:
    """An evaluation with one value, which records batch sizes. priors: whether it returns any."""

    def __init__(self, priors: bool = False, value: float = 0.0) -> None:
        self.sizes: list[int] = []
        self._priors = priors
        self._value = value

    def __call__(self, batch: GameBatch) -> Any:
        self.sizes.append(len(batch))
        values = np.full(len(batch), self._value)
        return (values, np.ones((len(batch), batch.width))) if self._priors else values


def evaluation_of(judge: Any, size: int, game: str = "tic-tac-toe") -> BatchEvaluation:
    return catalogue.find(game).batch_evaluation(Evaluation("judge", python=judge, batch=size))


def check(node: Node[Any]) -> None:
    """Check that visits add up and no virtual losses are left."""
    below = sum(child.visits for child in node.children)
    assert below <= node.visits
    assert abs(node.total) <= node.visits
    if node.children:
        assert node.visits - below <= node.visits
    for child in node.children:
        check(child)


@pytest.mark.parametrize("priors", [False, True])
@pytest.mark.parametrize("size", [1, 7, 64])
class TestEveryBatch:
    def test_makes_exactly_the_requested_playouts(self, size: int, priors: bool) -> None:
        judge = Judge(priors)
        search = UCT[Any](evaluation_of(judge, size), UCTOptions(playouts=300, seed=1))
        game = TicTacToe()
        before = game.key()
        search.search(game, END)
        assert game.key() == before
        root = search.tree
        assert root is not None
        assert root.visits == 300
        assert sum(child.visits for child in root.children) == 299, "the root was evaluated alone"
        check(root)
        assert max(judge.sizes) <= size
        assert judge.sizes[0] == 1
        if size > 1:
            assert sum(judge.sizes) / len(judge.sizes) > size / 3

    def test_finds_an_immediate_win(self, size: int, priors: bool) -> None:
        game = played(TicTacToe(), "a3", "a2", "b3", "b2")
        search = UCT[Any](evaluation_of(Judge(priors), size), UCTOptions(playouts=400, seed=1))
        assert game.text(search.search(game, END).move) == "c3"

    @pytest.mark.thorough(keep=1)
    def test_solver_proves_nim_wins_and_losses(self, size: int, priors: bool) -> None:
        options = UCTOptions(solver=True, playouts=10**5, seed=1)
        for heaps, value in (([1, 2, 4], 1), ([1, 2, 3], -1)):
            search = UCT[Any](evaluation_of(Judge(priors), size, "nim"), options)
            assert search.search(Nim(heaps), END).value == value
            assert search.counts.leaves < 10**5

    def test_node_limit_is_exact(self, size: int, priors: bool) -> None:
        search = UCT[Any](evaluation_of(Judge(priors), size), UCTOptions(seed=1, node_limit=40))
        game = TicTacToe()
        assert search.search(game, END).pv
        assert search.counts.nodes == 40
        assert game.key() == TicTacToe().key()
        assert search.tree is not None
        check(search.tree)


def test_values_are_from_the_movers_view() -> None:
    """An evaluation that favours the mover makes the root's children bad for the root's mover."""
    search = UCT[Any](evaluation_of(Judge(value=0.5), 8), UCTOptions(playouts=8, seed=1))
    search.search(TicTacToe(), END)
    root = search.tree
    assert root is not None
    for child in root.children:
        if child.visits:
            assert child.mean() == -0.25
    assert root.mean() == pytest.approx((-0.25 + 7 * 0.25) / 8)


def test_move_with_the_highest_prior_gets_the_most_visits() -> None:
    def judge(batch: GameBatch) -> Any:
        priors = np.zeros((len(batch), batch.width))
        for row, moves in enumerate(batch.moves):
            priors[row, moves.index(moves[-1])] = 0.9
            priors[row, : len(moves)] += 0.1 / len(moves)
        return np.zeros(len(batch)), priors

    search = UCT[Any](evaluation_of(judge, 4), UCTOptions(playouts=30, seed=1))
    game = TicTacToe()
    search.search(game, END)
    assert search.tree is not None
    favourite = max(search.tree.children, key=lambda child: child.visits)
    assert favourite.move == list(game.moves())[-1]
    assert favourite.prior == pytest.approx(0.9 + 0.1 / 9)
    assert sum(child.prior or 0 for child in search.tree.children) == pytest.approx(1)


def test_flat_search_grows_no_tree() -> None:
    search = UCB1[Any](evaluation_of(Judge(True), 8), UCTOptions(playouts=100, seed=1))
    search.search(TicTacToe(), END)
    assert search.tree is not None
    assert all(not child.children for child in search.tree.children)


def test_tree_does_not_grow_beyond_the_depth_limit() -> None:
    search = UCT[Any](evaluation_of(Judge(), 8), UCTOptions(playouts=200, seed=1))
    search.search(TicTacToe(), 2)
    assert search.counts.seldepth == 2


@pytest.mark.parametrize("game", ["go", "othello", "connect-four", "chess", "checkers"])
def test_leaves_are_batched_in_every_kind_of_game(game: str) -> None:
    judge = Judge(True)
    kind = catalogue.find(game)
    start: Game[Any] = kind.new()
    search = make_search("mcts", start, evaluation_of(judge, 16, game), 1, 60)
    infos = list(GameSearcher(search).search(start, Limits()))
    assert infos[-1].pv[0] in list(start.moves())
    assert sum(judge.sizes) == 60
    assert max(judge.sizes) > 8


def test_go_search_does_not_fill_its_own_eyes() -> None:
    """The search omits such moves, but the evaluation sees all legal moves."""
    game = played(catalogue.new_game("go", size=3), "b1", "pass", "a2", "pass", "b2", "pass")
    search = make_search("mcts", game, evaluation_of(Judge(True), 4, "go"), 1, 20)
    search.search(game, END)
    assert isinstance(search, UCT)
    assert search.tree is not None
    assert "A1" not in [game.text(child.move) for child in search.tree.children]


class FailsLater(Judge):
    def __call__(self, batch: GameBatch) -> Any:
        if len(self.sizes) == 3:
            raise ValueError("no more")
        return super().__call__(batch)


def test_evaluation_failure_keeps_game_and_tree_consistent() -> None:
    search = UCT[Any](evaluation_of(FailsLater(), 8), UCTOptions(playouts=300, seed=1))
    game = TicTacToe()
    with pytest.raises(EvaluationError, match="judge failed: ValueError: no more"):
        search.search(game, END)
    assert game.key() == TicTacToe().key()
    assert search.tree is not None
    check(search.tree)
    assert search.tree.visits < 20


def test_stop_ends_the_search_after_the_current_batch() -> None:
    class Stops(Judge):
        def __call__(self, batch: GameBatch) -> Any:
            if len(self.sizes) == 3:
                search.stopped = True
            return super().__call__(batch)

    judge = Stops()
    search = UCT[Any](evaluation_of(judge, 8), UCTOptions(playouts=10**6, seed=1))
    assert search.search(TicTacToe(), END).pv
    assert len(judge.sizes) == 4


def test_player_uses_the_batch_size_of_the_evaluation(tmp_path: Any) -> None:
    path, noted = tmp_path / "mine.py", tmp_path / "sizes"
    path.write_text(
        "import numpy as np\nfrom agent.evaluation import batched\n"
        "@batched(size=8)\ndef evaluate(batch):\n"
        f"    with open({str(noted)!r}, 'a') as noted:\n        print(len(batch), file=noted)\n"
        "    return np.zeros(len(batch))\n"
    )
    for name in ("othello", "connect-four", "go"):
        kind = catalogue.find(name)
        game = kind.new()
        source = create_backend(kind, lambda game=game: game, print, evaluation=f"{path}:evaluate")
        searcher = source.get_searcher(None, None)  # type: ignore[arg-type]
        searcher.clear_stop()
        last = list(searcher.search(game, Limits(nodes=60)))[-1]
        assert last.nodes == 60
        assert max(map(int, noted.read_text().split())) == 8
        noted.unlink()
    assert default_algorithm(catalogue.new_game("pig"), judged=True) == "expectiminimax"


def test_alpha_beta_evaluates_one_position_per_batch() -> None:
    judge = Judge()
    search = make_search("alpha-beta", TicTacToe(), evaluation_of(judge, 8))
    search.search(TicTacToe(), 2)
    assert set(judge.sizes) == {1}


def test_unbatched_search_warns_about_a_batched_evaluation(tmp_path: Any) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def evaluate(batch, scale=1):\n    return scale * batch.counts\n")
    kind = catalogue.find("othello")
    for algorithm, expected in (("alpha-beta", 1), ("mcts", 0), (None, 0)):
        said: list[str] = []
        create_backend(
            kind, kind.new, said.append, algorithm=algorithm, evaluation=f"{path}:evaluate"
        )
        assert len(said) == expected
        assert all("batched (64 positions per call)" in line for line in said)


def test_learned_network_works_only_for_its_own_game(tmp_path: Any) -> None:
    """Tree search uses its values and priors, with and without PUCT."""
    kind = catalogue.find("tic-tac-toe")
    path = tmp_path / "t.learned"
    game = kind.new()
    encoding = encoding_for(game)
    random = np.random.default_rng(1)
    shape = encoding.inputs, 1 + encoding.outputs
    layers = [(random.normal(0, 0.1, shape).astype(np.float32), np.zeros(shape[1], np.float32))]
    PolicyValueNet("tic-tac-toe", {"size": 3}, encoding, layers, {}).write(path)
    for algorithm in ("mcts", "uct", "alphazero", "alpha-beta"):
        source = create_backend(
            kind, kind.new, print, algorithm=algorithm, evaluation=f"learned:{path}"
        )
        searcher = source.get_searcher(None, None)  # type: ignore[arg-type]
        searcher.clear_stop()
        last = list(searcher.search(game, Limits(nodes=30)))[-1]
        assert last.pv
    other = catalogue.find("nim")
    source = create_backend(
        other, other.new, print, algorithm="alpha-beta", evaluation=f"learned:{path}"
    )
    searcher = source.get_searcher(None, None)  # type: ignore[arg-type]
    searcher.clear_stop()
    with pytest.raises(EvaluationError, match="not usable for this game: Nim is a different game"):
        list(searcher.search(other.new(), Limits(nodes=30)))


def test_centipawn_evaluation_finds_a_hanging_queen(tmp_path: Any) -> None:
    """A material evaluation finds a hanging queen, as the kernel's search does."""
    path = tmp_path / "mine.py"
    path.write_text(
        "import numpy as np\n"
        "def evaluate(batch):\n"
        "    worth = np.array([100, 300, 300, 500, 900, 0])\n"
        "    planes = batch.planes().reshape(len(batch), 12, -1).sum(2)\n"
        "    return (planes[:, :6] - planes[:, 6:]) @ worth\n"
    )
    game = catalogue.new_game("chess", fen="4k3/pp6/8/3q4/8/8/PP1R4/4K3 w - - 0 1")
    judge = catalogue.find("chess").batch_evaluation(load(f"{path}:evaluate"))
    search = make_search("mcts+playouts=1200", game, judge, seed=1)
    (move, *_) = search.search(game, END).pv
    assert game.text(move) == "d2d5"
    assert search.tree is not None
    (visits,) = (child.visits for child in search.tree.children if child.move == move)
    assert visits > 600
