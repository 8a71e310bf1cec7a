"""Parse move requests for chess and other games, and check them against the rules.

Requests never load code. They may change only the board size and the komi of the bot's game.
"""

import re
import time
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from agent.game import CHANCE
from agent.games import catalogue
from agent.games.fen import board_from_fen, is_playable
from agent.games.game_state import MAX_PLIES, GameState
from agent.games.go import Go, format_size, parse_size
from agent.games.position_text import complete_options
from agent.games.variants import STANDARD, ChessRules, parse_variant
from agent.go.parts import MAX_BOARD_SIZE as MAX_GO_SIZE
from agent.io.sanitize import sanitize_name
from agent.io.strict_json import quote_value
from protocols.client.uci import SearchRequest
from protocols.gtp.board import MAX_BOARD_SIZE
from protocols.mqtt.request_codec import (
    CHESS,
    GameVariant,
    RequestError,
    options_equal,
    parse_limits,
    public_name,
)

# Limits that engines support besides time limits.
DEFAULT_LIMITS = frozenset({"nodes", "depth"})
# The maximum absolute value of komi, on any board.
MAX_KOMI = 1000.0
_CHESS_MOVE = re.compile(r"(?:[a-h][1-8]){2}[nbrq]?")
_VARIANT_MOVE = re.compile(r"(?:[a-h][1-8]){2}[nbrqk]?|[PNBRQ]@[a-h][1-8]")


class RequestParser(Protocol):
    """Parses a bot's requests, which must be for the game that `variant` names."""

    variant: GameVariant

    def parse(
        self, payload: Mapping[str, Any], deadline: float
    ) -> tuple[SearchRequest, GameVariant]:
        """Return the search request and the game of a payload that conforms to the schema.

        Raise RequestError for an invalid request, and TimeoutError after the monotonic `deadline`.
        """


class ChessRequestParser:
    """Parses requests for chess, Chess960 and other variants.

    `limits` contains the names of the supported limits besides time limits. If `from_start` is set,
    only the standard start position is accepted.
    """

    def __init__(
        self, limits: Collection[str] = DEFAULT_LIMITS, *, from_start: bool = False
    ) -> None:
        self.variant = GameVariant()
        self._limits = limits
        self._from_start = from_start

    def parse(
        self, payload: Mapping[str, Any], deadline: float
    ) -> tuple[SearchRequest, GameVariant]:
        kind = payload.get("kind", {})
        _check_name(kind, CHESS)
        if kind.get("options"):
            raise RequestError("kind: chess has no options (use `fen` for the start position)")
        chess960, fen = payload.get("chess960", False), payload.get("fen")
        try:
            variant = parse_variant(payload.get("variant", STANDARD))
        except ValueError as error:
            raise RequestError(str(error)) from None
        rules = ChessRules(variant, chess960)
        unsupported = {"fen": fen is not None, "chess960": chess960, "variant": variant != STANDARD}
        if self._from_start and any(unsupported.values()):
            name = next(name for name in ("variant", "chess960", "fen") if unsupported[name])
            raise RequestError(
                f"{name}: not supported (this bot plays chess from the start position only)"
            )
        moves, movers = [], []
        pattern = _CHESS_MOVE if variant == STANDARD else _VARIANT_MOVE
        try:
            board = board_from_fen(fen or None, rules)
            if not is_playable(board):
                raise RequestError(f"fen: illegal position {fen}")
            start = None if fen is None else board.fen(shredder=chess960)
            for number, text in enumerate(payload.get("moves", ()), start=1):
                _check_deadline(deadline)
                if not pattern.fullmatch(text):
                    raise RequestError(
                        f"move {number}: invalid move {quote_value(text)} (expected UCI notation)"
                    )
                move = board.parse_uci(text)
                moves.append(board.uci(move))
                movers.append(0 if board.turn else 1)
                board.push(move)
        except (ValueError, IndexError) as error:
            raise RequestError(str(error)) from None
        if not any(board.generate_legal_moves()):
            raise RequestError("the game is already over: no legal moves")
        side = 0 if board.turn else 1
        limits = parse_limits(payload["limits"], self._limits)
        request = SearchRequest(
            start, tuple(moves), side=side, mover=side, movers=tuple(movers), **limits
        )
        return request, GameVariant(rules=rules)


class GameRequestParser:
    """Parses requests for other games, given as moves from the initial position.

    The constructor raises GameError for an unknown game or invalid options.
    """

    def __init__(
        self, game: str, options: Mapping[str, Any], limits: Collection[str] = DEFAULT_LIMITS
    ) -> None:
        self._game_type = catalogue.find(game)
        self._game_type.new(**options)
        self._own_options = complete_options(self._game_type, options)
        # The size is always sent, since the engine's last game may have had another size.
        size = {"size": self._own_options["size"]} if "size" in self._own_options else {}
        self._engine_options = {**options, **size}
        self._limits = limits
        self.variant = GameVariant(public_name(game), self._own_options)
        # The last requested game and its options.
        self._last: tuple[GameState, Mapping[str, Any]] | None = None

    def parse(
        self, payload: Mapping[str, Any], deadline: float
    ) -> tuple[SearchRequest, GameVariant]:
        name = self.variant.name
        kind = payload.get("kind", {})
        _check_name(kind, name)
        if payload.get("fen") is not None or payload.get("chess960"):
            raise RequestError(f"fen, chess960: for chess only (a game of {name} has only moves)")
        if payload.get("variant") is not None:
            raise RequestError(f"variant: for chess only (this bot plays {name})")
        options = self._options(kind.get("options", {}))
        limits = parse_limits(payload["limits"], self._limits)
        state = self._replay(options, payload.get("moves", ()), deadline)
        game = state.game
        if game.outcome() is not None:
            raise RequestError("the game is already over")
        if game.turn == CHANCE:
            raise RequestError("moves: missing chance event (the next move is random)")
        request = SearchRequest(
            None,
            tuple(state.moves),
            side=1 - game.turn,  # Black moves first.
            mover=game.turn,
            movers=tuple(state.movers),
            **limits,
        )
        return request, GameVariant(name, options)

    def _replay(self, options: Mapping[str, Any], moves: list[str], deadline: float) -> GameState:
        """Return the game after the given moves. If it continues the last game, reuse it."""
        if len(moves) > MAX_PLIES:
            raise RequestError(f"moves: too many (at most {MAX_PLIES} plies, got {len(moves)})")
        # The cached game is not shared during the replay, because this call may be abandoned.
        last, self._last = self._last, None
        if last is not None and last[1] == options and _continues(last[0], moves):
            state = last[0]
        else:
            try:
                state = GameState(self._game_type.new(**options))
            except catalogue.GameError as error:
                raise RequestError(f"kind: {error}") from None
        for number, text in enumerate(moves[len(state.moves) :], start=len(state.moves) + 1):
            _check_deadline(deadline)
            try:
                state.play(text)
            except ValueError as error:
                raise RequestError(f"move {number}: {error}") from None
        self._last = state, options
        return state

    def _options(self, requested: Mapping[str, Any]) -> dict[str, Any]:
        options, name = dict(self._engine_options), self.variant.name
        is_go = issubclass(self._game_type.game_class, Go)
        for option, value in requested.items():
            if option not in self._own_options:
                known = ", ".join(self._own_options) or "none"
                raise RequestError(
                    f"kind: {name}: unknown option {sanitize_name(option)} (known options: {known})"
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
                    f"kind: {option}: this bot plays {name} with {quote_value(own)}, "
                    f"not {quote_value(value)}"
                )
        return options


def _check_name(kind: Mapping[str, Any], own: str) -> None:
    name = kind.get("name", CHESS)
    if name != own:
        hint = "" if kind else " (`kind` names the game)"
        raise RequestError(f"kind: this bot plays {own}, not {sanitize_name(name)}{hint}")


def _size(value: Any, max_size: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise RequestError(f"kind: size: must be a whole number (got {quote_value(value)})")
    if not 1 <= value <= max_size:
        raise RequestError(f"kind: size: must be from 1 to {max_size} (got {quote_value(value)})")
    return int(value)


def _go_size(value: Any) -> int | str:
    if not isinstance(value, str):
        return _size(value, MAX_GO_SIZE)
    try:
        return format_size(*parse_size(value, MAX_GO_SIZE))
    except ValueError as error:
        raise RequestError(f"kind: {error}") from None


def _komi(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > MAX_KOMI:
        raise RequestError(
            f"kind: komi: must be from -{MAX_KOMI:g} to {MAX_KOMI:g} (got {quote_value(value)})"
        )
    return float(value)


def _continues(state: GameState, moves: list[str]) -> bool:
    known = [move.lower() for move in state.moves]
    return [move.lower() for move in moves[: len(known)]] == known


def _check_deadline(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError
