"""Games as lichess-bot plays them: a stream of lichess, and python-chess between it and the engine.

lichess-bot is not a package. `play_game` calls python-chess as lichess-bot does, in the same order.
"""

import json
import random
import subprocess
import sys
import time

import chess
import chess.engine
import chess.variant
import pytest

from agent.games.variants import VARIANTS, board_class, variant_of

COMMAND = [sys.executable, "-m", "kempelen.cli"]
# The sections `uci_options` and `xboard_options` of lichess-bot's configuration.
OPTIONS = {
    "uci": {"Move Overhead": 100, "Threads": 1, "Hash": 16, "UCI_ShowWDL": True},
    "xboard": {"cores": 1, "memory": 16},
}
MOVE_TIME_S = 0.05  # its setting go_commands.movetime
INITIAL_S, INCREMENT_S = 60.0, 1.0
MAX_PLIES = 600
# Variants by lichess's keys and names.
NAMES = {
    "crazyhouse": "Crazyhouse",
    "atomic": "Atomic",
    "antichess": "Antichess",
    "horde": "Horde",
    "kingOfTheHill": "King of the Hill",
    "racingKings": "Racing Kings",
    "threeCheck": "Three-check",
}


class LichessGame:
    """lichess's side of a game: its stream, its clocks, and an opponent with random moves."""

    def __init__(self, key, bot):
        self.key = key
        self.bot = bot  # the bot's colour
        self.board = board_class(chess.variant.find_variant(NAMES[key]).uci_variant)()
        self.status = "started"
        self._clocks = {chess.WHITE: INITIAL_S, chess.BLACK: INITIAL_S}
        self._sent = 0.0  # when the bot has got the position
        self._random = random.Random(key)

    def stream(self):
        """Generate the lines of /api/bot/game/stream/ID."""
        players = {
            chess.COLOR_NAMES[colour]: {
                "id": name, "name": name, "title": "BOT", "rating": 3000, "provisional": True,
            }
            for colour, name in ((self.bot, "bo"), (not self.bot, "b"))
        }  # fmt: skip
        clock = {"initial": round(INITIAL_S * 1e3), "increment": round(INCREMENT_S * 1e3)}
        variant = {"key": self.key, "name": NAMES[self.key], "short": NAMES[self.key][:5]}
        yield self._line(
            type="gameFull", id="zzzzzzzz", variant=variant, clock=clock, speed="bullet",
            perf={"name": NAMES[self.key]}, rated=True, createdAt=1600000000000, **players,
            initialFen="startpos", state=self._state(),
        )  # fmt: skip
        while self.status == "started":
            yield b""  # keeps the connection alive
            if self.board.turn != self.bot:
                yield self._line(**self._state())
                self._push(self._random.choice(list(self.board.legal_moves)))
            yield self._line(**self._state())
        yield self._line(**self._state())

    def make_move(self, move):
        """Make the bot's move, as /api/bot/game/ID/move/MOVE."""
        assert self.board.turn == self.bot
        if self.board.ply() > 1:  # the clocks start after a move of each side
            self._clocks[self.bot] += INCREMENT_S - (time.monotonic() - self._sent)
        self._push(self.board.parse_uci(move))
        if self._clocks[self.bot] < 0:
            self.status = "outoftime"

    def _push(self, move):
        self.board.push(move)
        assert self.board.ply() < MAX_PLIES
        if (outcome := self.board.outcome(claim_draw=True)) is not None:
            ends = {chess.Termination.CHECKMATE: "mate", chess.Termination.STALEMATE: "stalemate"}
            other = "draw" if outcome.winner is None else "variantEnd"
            self.status = ends.get(outcome.termination, other)

    def _state(self):
        times = {f"{'bw'[side]}time": round(left * 1e3) for side, left in self._clocks.items()}
        return {
            "type": "gameState",
            "moves": " ".join(move.uci() for move in self.board.move_stack),
            **times,
            "winc": round(INCREMENT_S * 1e3),
            "binc": round(INCREMENT_S * 1e3),
            "status": self.status,
        }

    def _line(self, **message):
        self._sent = time.monotonic()
        return json.dumps(message).encode()


def start_engine(protocol):
    start = {
        "uci": chess.engine.SimpleEngine.popen_uci,
        "xboard": chess.engine.SimpleEngine.popen_xboard,
    }[protocol]
    return start([*COMMAND, protocol], timeout=10.0, stderr=subprocess.DEVNULL)


def play_game(game, protocol):
    """Play a game of lichess. Return the number of moves that the engine has made."""
    lines = game.stream()
    full = json.loads(next(lines))
    with start_engine(protocol) as engine:
        engine.configure(OPTIONS[protocol])
        opponent = chess.engine.Opponent(name="b", title="BOT", rating=3000, is_engine=True)
        engine.send_opponent_information(opponent=opponent, engine_rating=3000)
        state, count, played = full["state"], 0, None
        while True:
            board = chess.variant.find_variant(full["variant"]["name"])()
            for move in state["moves"].split():
                board.push_uci(move)
            if state["status"] != "started":
                if state["status"] == "mate":
                    engine.send_game_result(board)
                else:
                    engine.send_game_result(board, None, state["status"])
                engine.ping()
                engine.quit()
                return count
            if board.turn == game.bot and state["moves"] != played:
                played, count = state["moves"], count + 1
                game.make_move(choose(engine, board, state, ponder=protocol == "uci"))
            state = json.loads(next(filter(None, lines)))


def choose(engine, board, state, ponder):
    """Return the engine's move.

    With xboard's protocol, python-chess mixes up its variation with those of pondering.
    """
    clocks = {
        f"{colour}_{name}": state[f"{colour[0]}{short}"] / 1e3
        for colour in chess.COLOR_NAMES
        for name, short in (("clock", "time"), ("inc", "inc"))
    }
    first = len(board.move_stack) < 2
    limit = chess.engine.Limit(
        time=MOVE_TIME_S,
        clock_id="first move" if first else "real time",
        **({} if first else clocks),
    )
    result = engine.play(
        board, limit, info=chess.engine.INFO_ALL, ponder=ponder and not first, draw_offered=False
    )
    board.variation_san(result.info.get("pv", []))  # raises ValueError if a move is illegal
    return result.move.uci()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("protocol", "key"), [*(("uci", key) for key in NAMES), ("xboard", "crazyhouse")]
)
def test_whole_game_of_variant_is_played_on_lichess(warm_variants, protocol, key):
    game = LichessGame(key, bot=bool(len(key) % 2))
    count = play_game(game, protocol)
    assert count == len(game.board.move_stack[not game.bot :: 2]) > 1
    assert game.status in ("mate", "stalemate", "draw", "variantEnd")
    assert game.board.outcome(claim_draw=True).winner in (game.bot, None)


def test_all_variants_of_the_engine_are_on_lichess():
    boards = [LichessGame(key, chess.WHITE).board for key in NAMES]
    assert tuple(map(variant_of, boards)) == VARIANTS[1:]
