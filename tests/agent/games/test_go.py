from dataclasses import replace
from itertools import product
from random import Random

import pytest

from agent.game import parse_move
from agent.games.go import MAX_EDITED_STATES, Go, evaluate, format_size, parse_size
from agent.games.go_rules import DEFAULT_RULES, KO_RULES
from agent.games.perft import count_positions, perft
from agent.games.stones import BLACK, EMPTY, PASS, WHITE, Stones, iter_bits, shape
from agent.search.algorithms.mcts import UCT, UCTOptions


def at(game, text):
    column, row = "ABCDEFGHJKLMNOPQRST".index(text[0]), int(text[1:]) - 1
    return game.stones.shape.vertex(column, row)


def played(moves, size=5, komi=0):
    game = Go(size, komi)
    for text in moves.split():
        game.play(parse_move(game, text))
    return game


def from_diagram(*rows, komi=0):
    """Return the position of a diagram, Black to move."""
    game = Go(format_size(len(rows[0].split()), len(rows)), komi)
    for player, sign in enumerate("XO"):
        vertices = [
            game.stones.shape.vertex(column, len(rows) - 1 - line)
            for line, row in enumerate(rows)
            for column, found in enumerate(row.split())
            if found == sign
        ]
        game.set_up(player, vertices)
    return game


def legal(game):
    return {game.text(move) for move in game.moves()}


class Slow:
    """A simple independent implementation of the rules: positions are dictionaries of stones."""

    def __init__(self, size):
        width, height = parse_size(size)
        self.points = list(product(range(width), range(height)))
        self.stones = {}
        self.seen = [{}]
        self.turn = 0
        self.passes = 0

    def beside(self, point):
        column, row = point
        around = ((column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1))
        return [other for other in around if other in self.points]

    def chain(self, stones, point):
        chain, free, edge = {point}, set(), [point]
        while edge:
            for other in self.beside(edge.pop()):
                if other not in stones:
                    free.add(other)
                elif stones[other] == stones[point] and other not in chain:
                    chain.add(other)
                    edge.append(other)
        return chain, free

    def after(self, point):
        stones = {**self.stones, point: self.turn}
        for other in self.beside(point):
            if stones.get(other) == 1 - self.turn:
                chain, free = self.chain(stones, other)
                if not free:
                    stones = {at: player for at, player in stones.items() if at not in chain}
        return stones

    def moves(self):
        if self.passes == 2:
            return []
        found = []
        for point in self.points:
            if point not in self.stones:
                stones = self.after(point)
                if self.chain(stones, point)[1] and stones not in self.seen:
                    found.append(point)
        return [*found, None]

    def play(self, move):
        self.passes = self.passes + 1 if move is None else 0
        if move is not None:
            self.stones = self.after(move)
            self.seen.append(self.stones)
        self.turn = 1 - self.turn

    def score(self):
        score = 0
        for point in self.points:
            reached = {self.stones[point]} if point in self.stones else set()
            if point not in self.stones:
                region, edge = {point}, [point]
                while edge:
                    for other in self.beside(edge.pop()):
                        if other in self.stones:
                            reached.add(self.stones[other])
                        elif other not in region:
                            region.add(other)
                            edge.append(other)
            score += (reached == {0}) - (reached == {1})
        return score


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, "1x6", "6x1", "2x5", "5x2", "3x4", "6x4"])
def test_random_games_match_a_simple_implementation(size):
    random = Random(size)
    for _ in range(6):
        game, slow = Go(size, komi=0), Slow(size)
        place = game.stones.shape.coordinates
        for _ in range(80):
            expected = [move for move in slow.moves() if move is not None]
            moves = [move for move in game.moves() if move != PASS]
            assert {place(move) for move in moves} == set(expected)
            assert game.score() == slow.score()
            if game.is_over():
                break
            # Pass rarely, so that there are many captures.
            move = random.choice(moves) if moves and random.random() < 0.97 else PASS
            game.play(move)
            slow.play(None if move == PASS else place(move))
            stones = {
                place(vertex): player
                for player in (0, 1)
                for vertex in iter_bits(game.stones.sets[player + 1])
            }
            assert stones == slow.stones


@pytest.mark.parametrize(
    ("width", "height", "count"),
    [(1, 1, 1), (2, 2, 57), (3, 3, 12_675), (1, 2, 5), (3, 1, 15), (2, 3, 489), (3, 2, 489)],
)
def test_legal_position_counts_match_known_values(width, height, count):
    vertices = shape(width, height).vertices
    found = 0
    for colours in product((EMPTY, BLACK, WHITE), repeat=len(vertices)):
        stones = Stones(width, height)
        for vertex, colour in zip(vertices, colours, strict=True):
            # Intermediate stones without liberties are harmless: nothing is captured yet.
            stones.board[vertex] = colour
        found += all(
            stones.board[vertex] == EMPTY or has_liberty(stones, vertex) for vertex in vertices
        )
    assert found == count


def has_liberty(stones, vertex):
    same = sum(1 << at for at in stones.shape.vertices if stones.board[at] == stones.board[vertex])
    empty = sum(1 << at for at in stones.shape.vertices if stones.board[at] == EMPTY)
    chain = stones.shape.flood_fill(1 << vertex, same) | 1 << vertex
    return bool(stones.shape.adjacent(chain) & empty)


def test_all_57_legal_positions_on_2x2_are_reached():
    found = set()

    def below(stones, colour):
        if (key := (tuple(stones.sets), colour)) in found:
            return
        found.add(key)
        for vertex in iter_bits(stones.sets[EMPTY]):
            if not stones.is_suicide(vertex, colour):
                after = stones.copy()
                after.put(vertex, colour)
                below(after, 3 - colour)
        below(stones, 3 - colour)

    below(Stones(2, 2), BLACK)
    assert len({sets for sets, _ in found}) == 57


def slow_perft(slow, depth):
    if depth == 0:
        return 1
    count = 0
    for move in slow.moves():
        after = Slow(2)
        after.points, after.stones, after.seen = slow.points, slow.stones, slow.seen[:]
        after.turn, after.passes = slow.turn, slow.passes
        after.play(move)
        count += slow_perft(after, depth - 1)
    return count


def test_perft_matches_a_simple_implementation(thorough):
    for size, depth in ((2, 5), (3, 3), ("2x3", 4), ("4x2", 3)):
        assert perft(Go(size), depth) == slow_perft(Slow(size), depth)
    assert [perft(Go(1), depth) for depth in (1, 2, 3)] == [1, 1, 0]
    # All vertices and the pass, then one less after each stone.
    for size in (9, 19) if thorough else (9,):
        assert perft(Go(size), 2) == size**4 + size**2 + 1
    assert perft(Go("9x13"), 2) == 117 * 116 + 2 * 117 + 1
    assert count_positions(Go(3), 1) == [1, 10]


def test_whole_chain_is_captured():
    game = played("A3 A1 B2 B1 C1")  # White's chain A1 B1 has one liberty left, A2
    assert game.stones.board[at(game, "A1")] == WHITE
    game.play(at(game, "E5"))
    game.play(at(game, "A2"))
    assert game.stones.board[at(game, "A1")] == game.stones.board[at(game, "B1")] == EMPTY
    game.undo()
    assert game.stones.board[at(game, "B1")] == WHITE


def test_suicide_is_forbidden_and_capturing_is_not_suicide():
    game = from_diagram(". X . . .", "X . X . .", ". X . . .", ". . . . .", ". . . . .")
    game.set_turn(1)
    assert not {"A5", "B4"} & legal(game)
    game = from_diagram(". X O . .", "X O . . .", "O . . . .", ". . . . .", ". . . . .")
    game.set_turn(1)
    assert "A5" in legal(game)
    game.play(at(game, "A5"))
    assert str(game).splitlines()[:2] == [" 5 O . O . .", " 4 . O . . ."]


def test_ko_cannot_be_retaken_at_once():
    game = from_diagram(". X O . .", "X . X O .", ". X O . .", ". . . . .", ". . . . .")
    game.set_turn(1)
    game.play(at(game, "B4"))
    assert game.stones.board[at(game, "C4")] == EMPTY
    assert "C4" not in legal(game)
    for text in ("E1", "E2"):
        game.play(at(game, text))
    assert "C4" in legal(game)


def test_ko_rules_differ_when_two_stones_are_sent_and_one_is_returned():
    """White sends two by A1, Black captures them by C1, and B1 repeats the position."""
    game = from_diagram("X . X O .", "X X X O .", "X X X O O", "X X O O .", ". O . O .")
    game.set_turn(1)
    sent, taken, returned = (at(game, text) for text in ("A1", "C1", "B1"))
    game.play(sent)
    game.play(taken)
    legal_by_rule = {}
    for ko in KO_RULES:
        game.rules = replace(DEFAULT_RULES, ko=ko)
        legal_by_rule[ko] = returned in game.moves()
        assert game.is_legal(1, returned, tolerant=True)
    assert legal_by_rule == {"SIMPLE": True, "POSITIONAL": False, "SITUATIONAL": True}
    game.play(returned)  # the position of the beginning, but Black is to move
    game.play(PASS)
    assert sent not in game.moves()
    game.rules = replace(DEFAULT_RULES, ko="SIMPLE")
    assert sent in game.moves()


@pytest.mark.parametrize("ko", KO_RULES)
def test_ko_cannot_be_taken_back_at_once_by_any_rule(ko):
    game = played("B1 C1 A2 D2 B3 C3 C2 B2")
    game.rules = replace(DEFAULT_RULES, ko=ko)
    back = at(game, "C2")
    assert back not in game.moves()
    assert game.is_legal(0, back, tolerant=True)
    game.play(at(game, "E5"))
    game.set_turn(1)
    assert back in game.moves()  # White may fill the ko
    game.undo()
    game.play(at(game, "E4"))
    assert back in game.moves()


def test_positions_never_repeat():
    random = Random(1)
    for _ in range(20):
        game = Go(3)
        seen = {tuple(game.stones.sets)}
        while moves := game.moves():
            move = random.choice(moves[:-1] or moves)
            game.play(move)
            if move != PASS:
                assert tuple(game.stones.sets) not in seen
                seen.add(tuple(game.stones.sets))


def test_two_passes_end_the_game():
    game = played("C3 pass")
    assert game.outcome() is None
    game.play(PASS)
    assert game.moves() == []
    assert game.outcome() == 25
    assert Go(5, komi=2.5).score() == -2.5


def test_seki_counts_stones_and_own_eyes_only():
    game = from_diagram(
        ". X . O X X",
        "X X O O X .",
        ". X . O X X",
        "X X O O X X",
        "X O O X X X",
        "X O . X X .",
    )
    # Vertices that both players reach belong to neither.
    black, white = game.stones.areas()
    shared = [at(game, "C6"), at(game, "C4"), at(game, "C1")]
    assert not any((black | white) >> vertex & 1 for vertex in shared)
    assert game.score() == black.bit_count() - white.bit_count()
    owned = [at(game, "A6"), at(game, "A4"), at(game, "F5"), at(game, "F1")]
    assert all(black >> vertex & 1 for vertex in owned)


def test_score_removes_dead_stones():
    game = from_diagram(". X . .", "X X . .", "O . X X", ". . X .")
    assert game.score() == 11
    assert game.score(dead=1 << at(game, "A2")) == 16


def test_players_may_move_out_of_turn_and_after_the_end():
    game = Go(5, komi=0)
    game.play_as(0, at(game, "C3"))
    game.play_as(0, at(game, "D4"))
    assert game.stones.sets[BLACK].bit_count() == 2
    game.play_as(1, PASS)
    game.play_as(0, PASS)
    assert game.is_over()
    game.set_turn(1)
    assert not game.is_over()
    assert game.turn == 1
    game.undo()
    assert game.is_over()
    for _ in range(4):
        game.undo()
    assert str(game) == str(Go(5))
    assert game.key() == Go(5).key()


def edited(game, colour, text):
    """Replace one vertex of a position, and return the position."""
    stones, vertex = Stones(game.width, game.height), at(game, text)
    for own in (BLACK, WHITE):
        for other in iter_bits(game.stones.sets[own] & ~(1 << vertex)):
            stones.put(other, own)
    if colour:
        stones.put(vertex, colour)
    stones.ko = game.stones.ko
    game.edit(stones, 1 << vertex)
    return game


@pytest.mark.parametrize("ko", KO_RULES)
def test_edited_positions_keep_the_ko(ko):
    game = played("B1 C1 A2 D2 B3 C3 C2 B2")
    game.rules = replace(DEFAULT_RULES, ko=ko)
    assert "C2" not in legal(game)
    assert "C2" not in legal(edited(game, WHITE, "E5"))
    assert "C2" not in legal(edited(game, EMPTY, "E5"))
    assert (game.turn, game.last_move, game.passes) == (0, None, 0)
    game.play(PASS)
    game.play(PASS)
    game.set_turn(0)
    assert ("C2" in legal(game)) == (ko == "SIMPLE")


def test_moves_that_were_edited_away_may_be_played_again():
    game = played("A1 B2 C3")
    edited(edited(game, EMPTY, "C3"), EMPTY, "B2")
    assert {"B2", "C3"} <= legal(game)
    game.play(at(game, "B2"))
    assert game.stones.board[at(game, "B2")] == WHITE
    game.undo()
    assert game.stones.board[at(game, "B2")] == EMPTY


def test_edited_games_keep_a_bounded_history():
    game = Go(3)
    for number in range(MAX_EDITED_STATES + 50):
        edited(game, 1 + number % 2, "B2")
        game.play(PASS)
    assert len(game.positions) <= 2
    assert len(game._states) <= MAX_EDITED_STATES + 1


def test_set_up_stones_must_have_liberties():
    game = Go(3)
    before = game.key()
    for vertices in ([at(game, "A1"), at(game, "A1")], list(game.stones.shape.vertices)):
        with pytest.raises(ValueError, match=r"not empty|without liberties"):
            game.set_up(0, vertices)
    assert game.key() == before


@pytest.mark.parametrize(
    "size",
    [0, 26, -3, "9x26", "26x9", "0x9", "9x0", "9", "9x", "x9", "9x9x9", "-9x9", "big", True, 9.0],
)
def test_rejects_invalid_board_sizes(size):
    with pytest.raises(
        ValueError, match=f"invalid board size {size!r} .expected 1 to 25, or WIDTHxHEIGHT"
    ):
        Go(size)


def test_accepts_square_and_rectangular_board_sizes():
    game = Go("4x2")
    assert (game.width, game.height, game.size) == (4, 2, "4x2")
    assert str(game) == " 2 . . . .\n 1 . . . .\n   A B C D"
    assert game.text(game.stones.shape.vertex(3, 1)) == "D2"
    square = Go("9X9")
    assert (square.width, square.height, square.size) == (9, 9, 9)
    assert square.key() == Go(9).key()


def test_vertices_skip_the_letter_i():
    game = Go(19)
    assert game.text(game.stones.shape.vertex(8, 0)) == "J1"
    assert game.text(game.stones.shape.vertex(18, 18)) == "T19"
    assert str(Go(2)) == " 2 . .\n 1 . .\n   A B"


def test_recognizes_own_eyes():
    # A5 in the corner; E5 at the edge with a diagonal enemy; C3 in the middle with one diagonal
    # enemy.
    game = from_diagram(". X . X .", "X X . O X", ". X . X X", ". O X X .", ". . . X X")
    eyes = {
        game.text(vertex)
        for vertex in iter_bits(game.stones.sets[EMPTY])
        if game.stones.is_own_eye(vertex, BLACK)
    }
    assert eyes == {"A5", "E2"}
    game = from_diagram(". . . . .", ". . X O .", ". X . X .", ". . X . .", ". . . . .")
    assert game.stones.is_own_eye(at(game, "C3"), BLACK)
    game.set_up(1, [at(game, "B2")])
    assert not game.stones.is_own_eye(at(game, "C3"), BLACK)


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_playouts_return_the_score_and_keep_the_position(size):
    game, random = Go(size, komi=0), Random(2)
    before = game.key()
    for _ in range(50):
        score, moves = game.playout(random)
        assert game.key() == before
        assert len(moves) <= game.max_playout_length
        assert all(player == number % 2 for number, (player, _) in enumerate(moves))
        replay = game.stones.copy()
        for player, vertex in moves:
            if vertex != PASS:
                assert not replay.is_suicide(vertex, player + 1)
                assert not replay.is_own_eye(vertex, player + 1)
                replay.put(vertex, player + 1)
        black, white = replay.areas()
        assert score == black.bit_count() - white.bit_count()


def test_uct_does_not_fill_its_own_eyes():
    game = from_diagram(". X . X .", "X X X X X", ". X O O O", "X O . O .", "X O O O O", komi=7.5)
    search = UCT(evaluate, UCTOptions(playouts=300, scale=0.5, rave=100, seed=1))
    found = search.search(game, 10**6)
    assert game.text(found.move) not in ("A5", "C5", "E5")
    assert search.counts.leaves == 300


def test_uct_values_a_position_with_a_capture_as_winning():
    game = from_diagram(". . . . .", ". X O X .", ". X O X .", ". X . X .", ". . . . .", komi=7.5)
    game.play(at(game, "E1"))
    game.set_turn(0)
    found = UCT(evaluate, UCTOptions(playouts=2000, scale=0.5, rave=100, seed=1)).search(
        game, 10**6
    )
    assert found.value > 0


def test_evaluation_counts_vertices_near_stones():
    game = Go(5, komi=0)
    assert evaluate(game) == 0
    game.play(at(game, "C3"))
    assert evaluate(game) == -25
    game.play(at(game, "A1"))
    assert evaluate(game) > 10


def test_playouts_answer_atari():
    game = from_diagram(". . . . .", ". . O . .", ". O X O .", ". . . . .", ". . . . .")
    save = game.stones._atari_reply(at(game, "B3"), BLACK)
    assert game.text(save) == "C2"
    game = from_diagram(". . . . .", ". . . . .", ". . . . X", ". . . X O", ". . . . .")
    capture = game.stones._atari_reply(at(game, "E2"), BLACK)
    assert game.text(capture) == "E1"
    # A chain that cannot be saved is abandoned.
    game = from_diagram(". . . . .", ". . . . .", ". . . . O", ". . . O .", ". . . O X")
    assert game.stones._atari_reply(at(game, "D1"), BLACK) == PASS
