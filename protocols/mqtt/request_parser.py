"""What a bot can be asked about: it reads the positions of requests, of chess or of another game.

A request is checked by the rules of the game before an engine hears of it, and spelled as we spell
it, so that no engine reads another position in it than was checked here. No name in a request is
looked up: a bot plays one game. Of its options only those may differ from the bot's own that GTP
has commands for, the size of the board and the komi of Go.
"""

import re
import reprlib
import time
from collections.abc import Collection, Mapping
from typing import Any, Protocol

import chess

from agent.game import CHANCE
from agent.games import catalogue
from agent.games.game_history import MAX_PLIES, GameHistory
from agent.games.go import MAX_SIZE, Go, format_size, parse_size
from agent.io.sanitize import sanitize_name
from protocols.client.uci import SearchRequest
from protocols.gtp.board import MAX_BOARD_SIZE
from protocols.mqtt.request_codec import (
    CHESS,
    RequestError,
    Variant,
    options_equal,
    parse_limits,
    public_name,
)

# Of searches, that can be told to engines beside times.
DEFAULT_LIMITS = frozenset({"nodes", "depth"})
# Komi is a number of points either way, on any board.
MAX_KOMI = 1000.0
_CHESS_MOVE = re.compile(r"(?:[a-h][1-8]){2}[nbrq]?")


class RequestParser(Protocol):
    """What a bot reads requests with. variant: what it plays if a request says nothing else."""

    variant: Variant

    def parse(self, payload: Mapping[str, Any], deadline: float) -> tuple[SearchRequest, Variant]:
        """Return what a request, valid by the schema, asks for, and of which variant.

        RequestError if that is not to be had, TimeoutError after `deadline`, by time.monotonic.
        """


class ChessRequestParser:
    """Positions of chess, and of Chess960.

    limits: that the engine can be told beside times. from_start: it plays from the usual start
    only, and no Chess960.
    """

    def __init__(
        self, limits: Collection[str] = DEFAULT_LIMITS, *, from_start: bool = False
    ) -> None:
        self.variant = Variant()
        self._limits = limits
        self._from_start = from_start

    def parse(self, payload: Mapping[str, Any], deadline: float) -> tuple[SearchRequest, Variant]:
        """Return what a valid request asks for."""
        kind = payload.get("kind", {})
        _check_name(kind, CHESS)
        if kind.get("options"):
            raise RequestError("kind: chess has no options; `fen` says where a game begins")
        chess960, fen = payload.get("chess960", False), payload.get("fen")
        if self._from_start and (chess960 or fen is not None):
            raise RequestError(
                f"{'chess960' if chess960 else 'fen'}: the engine of this bot plays chess from its "
                "start only"
            )
        moves, movers = [], []
        try:
            board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)
            if not board.is_valid():
                raise RequestError(f"not a legal position: {fen}")
            start = None if fen is None else board.fen(shredder=chess960)
            for number, text in enumerate(payload.get("moves", ()), start=1):
                _check_deadline(deadline)
                if not _CHESS_MOVE.fullmatch(text):
                    raise RequestError(
                        f"move {number}: {reprlib.repr(text)} is no move as UCI writes them"
                    )
                move = board.parse_uci(text)
                moves.append(board.uci(move))
                movers.append(0 if board.turn else 1)
                board.push(move)
        except (ValueError, IndexError) as error:
            raise RequestError(str(error)) from None
        if not any(board.generate_legal_moves()):
            raise RequestError("the game is over: no legal move")
        side = 0 if board.turn else 1
        limits = parse_limits(payload["limits"], self._limits)
        request = SearchRequest(
            start, tuple(moves), side=side, mover=side, movers=tuple(movers), **limits
        )
        return request, Variant(chess960=chess960)


class GameRequestParser:
    """Positions of any other game, with the moves that lead there from its start.

    Raises GameError for a game that there is not, or options that it cannot have.
    """

    def __init__(
        self, game: str, options: Mapping[str, Any], limits: Collection[str] = DEFAULT_LIMITS
    ) -> None:
        self._game_type = catalogue.find(game)
        self._game_type.new(**options)
        self._own_options = self._game_type.with_defaults(options)
        # What an engine is told: the size always, since it may have had another in its last game.
        size = {"size": self._own_options["size"]} if "size" in self._own_options else {}
        self._engine_options = {**options, **size}
        self._limits = limits
        self.variant = Variant(public_name(game), self._own_options)
        # The last game that was asked about, and its options.
        self._last: tuple[GameHistory, Mapping[str, Any]] | None = None

    def parse(self, payload: Mapping[str, Any], deadline: float) -> tuple[SearchRequest, Variant]:
        """Return what a valid request asks for."""
        name = self.variant.name
        kind = payload.get("kind", {})
        _check_name(kind, name)
        if payload.get("fen") is not None or payload.get("chess960"):
            raise RequestError(f"fen and chess960 are of chess; a game of {name} has moves alone")
        options = self._options(kind.get("options", {}))
        limits = parse_limits(payload["limits"], self._limits)
        course = self._replay(options, payload.get("moves", ()), deadline)
        game = course.game
        if game.outcome() is not None:
            raise RequestError("the game is over")
        if game.turn == CHANCE:
            raise RequestError("moves: chance is to move, and its event is missing")
        request = SearchRequest(
            None,
            tuple(course.moves),
            side=1 - game.turn,  # who moves first is Black
            mover=game.turn,
            movers=tuple(course.movers),
            **limits,
        )
        return request, Variant(name, options)

    def _replay(self, options: Mapping[str, Any], moves: list[str], deadline: float) -> GameHistory:
        """Return the game of these moves; what was known of it is played on."""
        if len(moves) > MAX_PLIES:
            raise RequestError(f"moves: a game has {MAX_PLIES} plies at most, not {len(moves)}")
        # It is nobody else's meanwhile, should this reading be given up.
        last, self._last = self._last, None
        if last is not None and last[1] == options and _continues(last[0], moves):
            course = last[0]
        else:
            try:
                course = GameHistory(self._game_type.new(**options))
            except catalogue.GameError as error:
                raise RequestError(f"kind: {error}") from None
        for number, text in enumerate(moves[len(course.moves) :], start=len(course.moves) + 1):
            _check_deadline(deadline)
            try:
                course.play(text)
            except ValueError as error:
                raise RequestError(f"move {number}: {error}") from None
        self._last = course, options
        return course

    def _options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a game, of which a request gives some."""
        options, name = dict(self._engine_options), self.variant.name
        is_go = issubclass(self._game_type.game_class, Go)
        for option, value in given.items():
            if option not in self._own_options:
                known = ", ".join(self._own_options) or "none"
                raise RequestError(
                    f"kind: {name} has no option {sanitize_name(option)}; it has {known}"
                )
            own = self._own_options[option]
            if options_equal(value, own):
                continue
            if option == "size":
                options[option] = _go_size(value) if is_go else _size(value, MAX_BOARD_SIZE)
            elif option == "komi" and is_go:
                options[option] = _komi(value)
            else:
                raise RequestError(
                    f"kind: this bot plays {name} with {option}={reprlib.repr(own)}, "
                    f"not {reprlib.repr(value)}"
                )
        return options


def _check_name(kind: Mapping[str, Any], own: str) -> None:
    """Raise RequestError for another game than a bot's own; without a name it is chess."""
    name = kind.get("name", CHESS)
    if name != own:
        hint = "" if kind else "; `kind` names the game"
        raise RequestError(f"kind: this bot plays {own}, not {sanitize_name(name)}{hint}")


def _size(value: Any, max_size: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise RequestError(f"kind: size: a whole number is expected, not {reprlib.repr(value)}")
    if not 1 <= value <= max_size:
        raise RequestError(
            f"kind: a board of size {reprlib.repr(value)} cannot be; use 1 to {max_size}"
        )
    return int(value)


def _go_size(value: Any) -> int | str:
    if not isinstance(value, str):
        return _size(value, MAX_SIZE)
    try:
        return format_size(*parse_size(value))
    except ValueError as error:
        raise RequestError(f"kind: {error}") from None


def _komi(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > MAX_KOMI:
        raise RequestError(
            f"kind: komi: a number from -{MAX_KOMI:g} to {MAX_KOMI:g} is expected, "
            f"not {reprlib.repr(value)}"
        )
    return float(value)


def _continues(course: GameHistory, moves: list[str]) -> bool:
    """Tell whether moves begin with those of a game."""
    known = [move.lower() for move in course.moves]
    return [move.lower() for move in moves[: len(known)]] == known


def _check_deadline(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError
