"""Learned weights of move features: symmetries, their file, and their use in the search."""

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.evaluation import HANDCRAFTED
from agent.evaluation import load as load_evaluation
from agent.games.go import Go, evaluate
from agent.games.stones import PASS
from agent.go import backend as go_source
from agent.go import kernel_board, pattern_weights
from agent.go.feature_extraction import extract_features
from agent.go.features import (
    FEATURE_COLUMNS,
    FEATURE_COUNT,
    FEATURE_INDEX,
    NEIGHBOURHOOD,
    TRAIT_OFFSET,
    TRAITS,
)
from agent.go.kernel_board import KernelBoard, to_kernel_move
from agent.go.pattern_weights import (
    WeightsError,
    canonical_codes,
    digest,
    load,
    save,
    shipped_weights,
)
from agent.go.search import GoSearch
from agent.kernel.backend import SearchConfig
from agent.limits import Limits
from agent.search.backend import GameBackend

SIZE = 9


def described(game: Go) -> dict[int, list[int]]:
    """Return the features of a position's moves, with canonical neighbourhood codes."""
    board = KernelBoard()
    board.load(game)
    moves = np.zeros(SIZE * SIZE + 1, np.int64)
    found = np.zeros((SIZE * SIZE + 1, FEATURE_COLUMNS), np.int64)
    number = extract_features(board.worker, moves, found)
    codes = found[:number, NEIGHBOURHOOD]
    found[:number, NEIGHBOURHOOD] = np.where(codes >= 0, canonical_codes()[codes], codes)
    return {int(moves[i]): found[i].tolist() for i in range(number)}


def random_moves(chance: random.Random, number: int) -> list[int]:
    game, moves = Go(SIZE), []
    for _ in range(number):
        move = chance.choice([move for move in game.candidate_moves() if move != PASS] or [PASS])
        game.play(move)
        moves.append(move)
    return moves


def after(moves: list[int]) -> Go:
    game = Go(SIZE)
    for move in moves:
        game.play(move)
    return game


def test_features_are_invariant_under_symmetry() -> None:
    chance = random.Random(5)
    shape = Go(SIZE).stones.shape
    last = SIZE - 1
    turns = [lambda x, y: (last - x, y), lambda x, y: (y, x), lambda x, y: (y, last - x)]
    captured = 0
    for number in range(20, 60, 4):
        moves = random_moves(chance, number)
        found = described(after(moves))
        captured += any(FEATURE_INDEX["captures one"] in features for features in found.values())
        for turn in turns:

            def turned(move: int, turn=turn) -> int:  # type: ignore[no-untyped-def]
                return move if move <= 0 else shape.vertex(*turn(*shape.coordinates(move)))

            other = described(after([turned(move) for move in moves]))
            codes = {turned(move): features[NEIGHBOURHOOD] for move, features in found.items()}
            assert {move: features[NEIGHBOURHOOD] for move, features in other.items()} == codes
            near = {turned(move): features[1:4] for move, features in found.items()}
            assert {move: features[1:4] for move, features in other.items()} == near
    assert captured > 3


def test_features_are_from_the_movers_view() -> None:
    moves = random_moves(random.Random(2), 30)
    black, white = after(moves), after([PASS, *moves])
    first, second = described(black), described(white)
    assert black.turn != white.turn
    assert {move: f[:2] for move, f in first.items()} == {move: f[:2] for move, f in second.items()}


def test_capturing_move_has_the_capture_feature() -> None:
    game = Go(SIZE)
    shape = game.stones.shape
    # White's stone at 3, 3 has one liberty, at 3, 4.
    for x, y in ((2, 3), (3, 3), (4, 3), (8, 8), (3, 2), (8, 7)):
        game.play(shape.vertex(x, y))
    features = described(game)[shape.vertex(3, 4)]
    assert FEATURE_INDEX["captures one"] in features
    assert FEATURE_INDEX["self-atari of one"] not in features
    elsewhere = described(game)[shape.vertex(6, 2)]
    assert not any(place >= TRAIT_OFFSET for place in elsewhere)


def test_weights_are_reloaded_and_missing_ones_are_zero(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    save(path, {"games": 3}, {"passes": -1.5}, {"others": 0.25, "0": 2.0})
    table = load(path)
    assert len(table) == FEATURE_COUNT
    assert (table[0], table[1]) == (2.0, 0.25)
    assert table[FEATURE_INDEX["passes"]] == -1.5
    assert table[FEATURE_INDEX["escapes"]] == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:40],
        lambda text: text.replace("-1.5", "-1.6"),
        lambda text: text.replace("passes", "dances"),
        lambda text: "[]",
        lambda text: "[" * 100_000,
        lambda text: "",
    ],
)
def test_rejects_a_damaged_weights_file(tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "weights.json"
    save(path, {}, {"passes": -1.5}, {"others": 0.25, "0": 2.0})
    path.write_text(damage(path.read_text()))
    with pytest.raises(WeightsError, match=r"weights\.json"):
        load(path)


@pytest.mark.parametrize("weight", ["NaN", "1e9", '"x"', "null"])
def test_rejects_invalid_weights_with_a_valid_digest(tmp_path: Path, weight: str) -> None:
    path = tmp_path / "weights.json"
    features = {"passes": json.loads(weight)}
    parts = {"manifest": {"sha256": digest(features, {"others": 0})}, "features": features}
    path.write_text(json.dumps(parts | {"patterns": {"others": 0}}))
    with pytest.raises(WeightsError, match=r"weights\.json"):
        load(path)


def test_shipped_weights_are_valid_and_name_their_sources() -> None:
    table, problem = shipped_weights()
    assert (table is not None, problem) == (True, "")
    text = pattern_weights.SHIPPED.read_text()
    assert len(text) < 200_000
    manifest = json.loads(text)["manifest"]
    assert manifest["games"] > 100
    assert {"licence", "sources", "positions", "sha256"} <= manifest.keys()
    assert len(TRAITS) == FEATURE_COUNT - TRAIT_OFFSET


def prior_of(search: GoSearch, game: Go, move: int) -> float:
    search.new_game()
    search.clear_stop()
    priors = {info.pv[0]: info.prior for info in search.search(game, Limits(nodes=2), 100)}
    return float(priors[move] or 0.0)


def test_learned_weights_raise_a_moves_prior(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "weights.json"
    save(path, {}, {"line 2": 6.0}, {"others": 0.0})
    table = load(path)
    monkeypatch.setattr(kernel_board, "shipped_weights", lambda: (table, ""))
    game = Go(SIZE)
    second = game.stones.shape.vertex(1, 4)
    with_it = GoSearch(SearchConfig(megabytes=4, seed=1, settings={"learned": 400}))
    without = GoSearch(SearchConfig(megabytes=4, seed=1, settings={"learned": 0}))
    assert prior_of(with_it, game, second) > 2 * prior_of(without, game, second)


def test_search_runs_without_weights_and_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_board, "shipped_weights", lambda: (None, "w.json is damaged"))
    monkeypatch.setattr(pattern_weights, "shipped_weights", lambda: (None, "w.json is damaged"))
    search = GoSearch(SearchConfig(megabytes=4, seed=1, settings={"learned": 400}))
    search.clear_stop()
    *_, last = search.search(Go(SIZE), Limits(nodes=50))
    assert last.nodes == 50
    reports: list[str] = []
    plain = GameBackend(lambda evaluate: search, None, None, reports.append)  # type: ignore[arg-type]
    evaluation = replace(load_evaluation(HANDCRAFTED.name), python=evaluate)
    go_source.compiled_backend(plain, evaluation, SearchConfig(megabytes=4), reports.append)._make()
    assert reports == ["w.json is damaged; the Go search runs without learned patterns"]


def test_described_moves_include_all_sensible_moves() -> None:
    game = after(random_moves(random.Random(9), 40))
    assert set(described(game)) >= {to_kernel_move(move) for move in game.candidate_moves()}


def test_move_rating_is_the_sum_of_its_feature_weights() -> None:
    table, _ = shipped_weights()
    assert table is not None
    search = GoSearch(SearchConfig(megabytes=4, seed=1, settings={"learned": 100}))
    game = after(random_moves(random.Random(3), 44))
    search.clear_stop()
    list(search.search(game, Limits(nodes=1)))
    ratings = search._workers.first.worker.ratings
    board = KernelBoard()
    board.load(game)
    moves = np.zeros(SIZE * SIZE + 1, np.int64)
    found = np.zeros((SIZE * SIZE + 1, FEATURE_COLUMNS), np.int64)
    count = extract_features(board.worker, moves, found)
    assert count > 20
    for move, indexes in zip(moves[:count], found[:count], strict=True):
        expected = sum(float(table[index]) for index in indexes if index >= 0)
        assert ratings[move] == pytest.approx(expected, abs=1e-5)
