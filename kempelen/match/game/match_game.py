"""Play one game between two players, enforce its rules, and keep the clocks."""

import asyncio
import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agent.io.sanitize import sanitize_line
from agent.limits import Cp, Info, Mate, Score
from kempelen.match.config.game_settings import new_game
from kempelen.match.config.settings import Settings
from kempelen.match.engines.engine_pool import EnginePool
from kempelen.match.engines.players import EnginePlayer
from kempelen.match.game.adjudication import Adjudicator
from kempelen.match.game.game_result import BLACK, WHITE, GameResult, Termination, win
from kempelen.match.game.openings import Opening, book_move
from kempelen.match.game.referee import ChessReferee, Referee, mate_pv_problem, wrap_errors
from kempelen.match.live.events import (
    MAX_PV_PLIES,
    Event,
    GameStarted,
    MovePlayed,
    Notice,
    SearchInfo,
)
from kempelen.match.pairing.pairs import PairKey
from kempelen.match.records.game_record import GameRecord, MoveRecord
from protocols.client.engine import (
    EngineOptionError,
    EngineTimeoutError,
    EngineUnresponsiveError,
)
from protocols.client.gtp import EngineRefusalError
from protocols.client.process import EngineDiedError, EngineError
from protocols.client.uci import RESIGNATION, PlayResult, SearchRequest, UciClient
from protocols.mqtt.broker_monitor import BrokerLostError
from protocols.mqtt.request_codec import BotUnavailableError

SIDES = ("white", "black")
# Seconds to wait for a move beyond the move's time limit. The move may have arrived in time while
# this process was busy.
GRACE = 2.0
# Plies of a stored principal variation.
MAX_PV_LENGTH = 64
Emit = Callable[[Event], None]


class GameVoidError(Exception):
    """A game could not begin or continue, through no fault of a player. It must be replayed."""


@dataclass(frozen=True, slots=True)
class GameAssignment:
    """A game to play, and the number of the board on which it is displayed."""

    pair: PairKey
    game: int
    opening: Opening
    board: int = 0
    own_engines: bool = False  # the board has engines that play nowhere else

    @property
    def engine_board(self) -> int:
        """The board of the engines in the pool."""
        return self.board if self.own_engines else 1

    @property
    def players(self) -> tuple[int, int]:
        """The player indexes of White and Black."""
        return self.pair.white(self.game), self.pair.black(self.game)

    def __str__(self) -> str:
        return f"game {self.pair}.{self.game}"


class MatchGame:
    def __init__(
        self, settings: Settings, assignment: GameAssignment, adjudicator: Adjudicator, emit: Emit
    ) -> None:
        self._settings = settings
        self._assignment = assignment
        self._adjudicator = adjudicator
        self._emit = emit
        self._controls = [settings.time_control(player) for player in assignment.players]
        self._clocks = [control.new_clock() for control in self._controls]
        self._referee = _make_referee(settings, assignment)
        self._opening = tuple(self._referee.moves)
        self._first = self._referee.turn
        self._moves: list[MoveRecord] = []
        self._scores: list[Score | None] = []
        self._started = datetime.now(UTC)
        self._start_time = time.monotonic()
        self._sides_with_bad_pv: set[int] = set()
        self._expected_reply: str | None = None

    async def play(self, players: tuple[EnginePlayer, EnginePlayer]) -> GameRecord:
        """Play the game to its end and return its record. A player that fails loses the game."""
        self._emit_start()
        game_result = await self._game_result()
        while game_result is None:
            side = self._referee.turn
            game_result = await self._move(players[side])
            if game_result is None:
                self._ponder(players[side], side)
        return self.record(game_result)

    def record(self, game_result: GameResult) -> GameRecord:
        names = [self._settings.engines[player].name for player in self._assignment.players]
        return GameRecord(
            pair=str(self._assignment.pair),
            game=self._assignment.game,
            white=names[WHITE],
            black=names[BLACK],
            fen=self._referee.start,
            opening=self._opening,
            moves=tuple(self._moves),
            result=game_result.result,
            termination=game_result.termination,
            detail=game_result.detail,
            started=self._started.isoformat(timespec="seconds"),
            duration=round(time.monotonic() - self._start_time, 3),
            chess960=self._settings.chess960,
            variant=self._settings.variant,
            white_time=str(self._controls[WHITE]),
            black_time=str(self._controls[BLACK]),
        )

    def failure(self, side: int, termination: Termination, detail: str) -> GameResult:
        """Return a loss for `side`, with the name of its player in the detail."""
        name = self._settings.engines[self._assignment.players[side]].name
        return win(1 - side, termination, sanitize_line(f"{SIDES[side]} ({name}): {detail}"))

    async def _move(self, player: EnginePlayer) -> GameResult | None:
        side = self._referee.turn
        clock, control = self._clocks[side], self._controls[side]
        if (move := self._book_move(side)) is not None:
            clock.spend(0.0)
            return await self._accept(side, PlayResult(move, None, None, 0.0), book=True)
        allowance = clock.move_limit
        if allowance is not None:
            allowance += control.margin
        limit = control.patience if allowance is None else allowance + GRACE
        try:
            answer = await player.search(self._request(side), limit, self._info_callback(side))
        except BotUnavailableError as error:
            raise GameVoidError(f"{self._assignment}: void, will be replayed: {error}") from None
        except EngineUnresponsiveError as error:
            return self.failure(side, Termination.HUNG, str(error))
        except EngineTimeoutError as error:
            if allowance is None:
                return self.failure(side, Termination.HUNG, str(error))
            return self.failure(side, Termination.TIME, f"no move within {allowance:.3g} s")
        except EngineDiedError as error:
            return self.failure(side, Termination.CRASH, str(error))
        except EngineError as error:
            return self.failure(side, Termination.FAILED, str(error))
        if allowance is not None and answer.elapsed > allowance:
            late = answer.elapsed - (allowance - control.margin)
            return self.failure(side, Termination.TIME, f"{late * 1000:.0f} ms over")
        used = min(answer.elapsed, clock.remaining or 0.0)
        clock.spend(used)
        if control.hourglass:
            opponent = self._clocks[1 - side]
            opponent.set_remaining((opponent.remaining or 0.0) + used)
        return await self._accept(side, answer)

    def _book_move(self, side: int) -> str | None:
        engine = self._settings.engines[self._assignment.players[side]]
        played = len(self._referee.moves) // 2
        if engine.book is None or (engine.bookdepth is not None and played >= engine.bookdepth):
            return None
        assert isinstance(self._referee, ChessReferee)
        seed = f"{self._settings.seed}/{self._assignment.pair}/{len(self._referee.moves)}"
        return book_move(engine, self._referee.board, seed)

    def _ponder(self, player: EnginePlayer, side: int) -> None:
        """Let the player that has moved search the position after the reply that it expects."""
        engine = self._settings.engines[self._assignment.players[side]]
        reply, self._expected_reply = self._expected_reply, None
        if not (engine.ponder and reply and isinstance(player, UciClient)):
            return
        assert isinstance(self._referee, ChessReferee)
        board = self._referee.board.copy()
        try:
            board.push_uci(reply)
        except ValueError:
            return
        if not board.is_game_over():
            request = self._request(side)
            player.ponder(dataclasses.replace(request, moves=(*request.moves, reply)))

    async def _accept(
        self, side: int, answer: PlayResult, *, book: bool = False
    ) -> GameResult | None:
        if answer.move.lower() in ("", "(none)", "none", "null", "0000"):
            return self.failure(side, Termination.NO_MOVE, f"answered {answer.move or 'nothing'}")
        if answer.move == RESIGNATION:
            return self.failure(side, Termination.RESIGNATION, "resigned")
        self._expected_reply = answer.ponder
        ply = len(self._referee.moves) + 1
        if self._settings.run.check_mate_pvs and not book:
            self._check_mate_pv(side, answer)
        try:
            with wrap_errors(self._settings.game):
                self._referee.play(answer.move)
        except ValueError:
            shown = answer.move[:40]
            position = " / ".join(str(self._referee.game).splitlines())
            return self.failure(side, Termination.ILLEGAL_MOVE, f"{shown!r} in {position}")
        move, *events = self._referee.moves[ply - 1 :]
        self._scores.append(answer.info.score if answer.info else None)
        clock, keep_pv = self._clocks[side].remaining, self._settings.run.pv
        record = _move_record(move, answer, clock, keep_pv=keep_pv)
        record = dataclasses.replace(record, book=book)
        for number, played in enumerate((record, *map(MoveRecord, events)), start=ply):
            self._moves.append(played)
            pv = answer.info.pv if answer.info and number == ply else ()
            self._emit_move(side, number, played, pv)
        return await self._game_result() or self._referee.adjudicate(
            self._adjudicator, self._scores, first=self._first
        )

    def _check_mate_pv(self, side: int, answer: PlayResult) -> None:
        """Report the first incomplete principal variation of each player in the game."""
        assert isinstance(self._referee, ChessReferee)
        problem = mate_pv_problem(self._referee.board, answer.info)
        if problem and side not in self._sides_with_bad_pv:
            self._sides_with_bad_pv.add(side)
            name = self._settings.engines[self._assignment.players[side]].name
            ply = len(self._referee.moves) + 1
            self._emit(Notice(sanitize_line(f"{self._assignment}, ply {ply}, {name}: {problem}")))

    async def _game_result(self) -> GameResult | None:
        """Return the result by the rules, computed in a thread if the game is not chess."""
        with wrap_errors(self._settings.game):
            if self._settings.is_chess:
                return self._referee.game_result()
            return await asyncio.to_thread(self._referee.game_result)

    def _request(self, side: int) -> SearchRequest:
        control, clock = self._controls[side], self._clocks[side]
        own_clock = clock.side_clock()
        # If only one side has a clock, `go` gives its time to both.
        sides = [clock.side_clock() or own_clock for clock in self._clocks]
        return SearchRequest(
            fen=None if self._referee.start in ("", _START) else self._referee.start,
            moves=tuple(self._referee.moves),
            white=sides[WHITE] if own_clock else None,
            black=sides[BLACK] if own_clock else None,
            moves_to_go=clock.moves_to_go,
            movetime=control.movetime,
            nodes=control.nodes,
            depth=control.depth,
            side=side,
            mover=self._referee.mover,
            movers=tuple(self._referee.movers),
            playouts=control.playouts,
        )

    def _emit_start(self) -> None:
        record = self.record(GameResult("*", Termination.FAILED))
        self._emit(
            GameStarted(
                board=self._assignment.board,
                pair=record.pair,
                game=record.game,
                white=record.white,
                black=record.black,
                fen=record.fen,
                variant=record.variant,
                chess960=record.chess960,
                moves=record.opening,
                position=str(self._referee.game),
                turn=SIDES[self._referee.turn],
                white_clock=self._clocks[WHITE].remaining,
                black_clock=self._clocks[BLACK].remaining,
            )
        )

    def _emit_move(self, side: int, ply: int, record: MoveRecord, pv: Sequence[str]) -> None:
        self._emit(
            MovePlayed(
                board=self._assignment.board,
                pair=str(self._assignment.pair),
                game=self._assignment.game,
                ply=ply,
                side=SIDES[side],
                move=record.move,
                san=self._referee.shown_moves[ply - 1],
                position=str(self._referee.game),
                turn=SIDES[self._referee.turn],
                cp=record.cp,
                mate=record.mate,
                depth=record.depth,
                nodes=record.nodes,
                time=record.time,
                white_clock=self._clocks[WHITE].remaining,
                black_clock=self._clocks[BLACK].remaining,
                pv=tuple(pv[:MAX_PV_PLIES]),
            )
        )

    def _info_callback(self, side: int) -> Callable[[Info[str]], None]:
        ply = len(self._referee.moves) + 1

        def report(info: Info[str]) -> None:
            self._emit(
                SearchInfo(
                    board=self._assignment.board,
                    pair=str(self._assignment.pair),
                    game=self._assignment.game,
                    ply=ply,
                    side=SIDES[side],
                    depth=info.depth,
                    cp=_cp(info.score),
                    mate=_mate(info.score),
                    nodes=info.nodes,
                    time=info.time,
                    pv=info.pv,
                )
            )

        return report


async def play_game(
    settings: Settings,
    assignment: GameAssignment,
    pool: EnginePool,
    adjudicator: Adjudicator,
    emit: Emit,
) -> GameRecord:
    """Play one game with engines from the pool, and return its record.

    Afterwards, engines that failed are closed, and the others are returned to the pool. The game
    must be replayed after GameVoidError, for example because a player did not start, and after
    BrokerLostError.
    """
    game = MatchGame(settings, assignment, adjudicator, emit)
    acquired = await asyncio.gather(
        *(_ready_player(settings, assignment, pool, side) for side in (WHITE, BLACK)),
        return_exceptions=True,
    )
    players = [player for player in acquired if not isinstance(player, BaseException)]
    if len(players) < 2:
        for side, player in enumerate(acquired):
            if not isinstance(player, BaseException):
                await pool.release(assignment.players[side], player, assignment.engine_board)
        raise _start_error(settings, assignment, acquired)
    try:
        record = await game.play((players[WHITE], players[BLACK]))
    except (BrokerLostError, GameVoidError):
        for player in players:
            await pool.discard(player)
        raise
    failed = _failed_sides(record)
    for side, player in enumerate(players):
        is_usable = side not in failed
        if is_usable or record.termination is Termination.TIME:
            is_usable = await _report_result(player, record) and is_usable
        if not is_usable:
            await pool.discard(player)
        else:
            await pool.release(assignment.players[side], player, assignment.engine_board)
    return record


async def _ready_player(
    settings: Settings, assignment: GameAssignment, pool: EnginePool, side: int
) -> EnginePlayer:
    """Return a player that is ready for the game and knows the name of its opponent."""
    player = await pool.acquire(assignment.players[side], assignment.engine_board)
    try:
        await player.set_opponent(settings.engines[assignment.players[1 - side]].name)
    except (EngineOptionError, EngineRefusalError):
        pass  # the engine rejects the name, but can play
    except EngineError:
        await pool.discard(player)
        raise
    return player


def _start_error(
    settings: Settings,
    assignment: GameAssignment,
    outcomes: Sequence[EnginePlayer | BaseException],
) -> BaseException:
    """Return the error to raise if players did not start. `outcomes` has an entry per side."""
    reasons = []
    for side, outcome in enumerate(outcomes):
        if isinstance(outcome, EngineError):
            name = settings.engines[assignment.players[side]].name
            reasons.append(sanitize_line(f"{SIDES[side]} ({name}): {outcome}"))
        elif isinstance(outcome, BaseException):
            return outcome
    return GameVoidError(f"{assignment}: could not begin: {'; '.join(reasons)}")


async def _report_result(player: EnginePlayer, record: GameRecord) -> bool:
    """Send the result to a player. Return whether the player can play another game."""
    end = record.termination
    try:
        if isinstance(player, UciClient):
            await player.stop_pondering()
        await player.report_result(
            record.result, end.tag if end.is_forfeit else str(end), forfeit=end.is_forfeit
        )
    except EngineError:
        return False
    return True


def _make_referee(settings: Settings, assignment: GameAssignment) -> Referee:
    if settings.is_chess:
        return ChessReferee(assignment.opening, settings.rules)
    seed = f"{settings.seed}/{assignment.pair}/{assignment.game}"
    return Referee(new_game(settings.game), assignment.opening, seed)


_START = ChessReferee(Opening()).start
# After these terminations, the loser's process is restarted.
_RESTART_AFTER = frozenset(
    {
        Termination.TIME,
        Termination.CRASH,
        Termination.HUNG,
        Termination.FAILED,
    }
)


def _failed_sides(record: GameRecord) -> tuple[int, ...]:
    if record.termination not in _RESTART_AFTER:
        return ()
    return (BLACK,) if record.result == "1-0" else (WHITE,)


def _move_record(
    move: str, answer: PlayResult, clock: float | None, *, keep_pv: bool
) -> MoveRecord:
    record = MoveRecord(
        move, time=round(answer.elapsed, 4), clock=None if clock is None else round(clock, 3)
    )
    info = answer.info
    if info is None:
        return record
    return dataclasses.replace(
        record,
        cp=_cp(info.score),
        mate=_mate(info.score),
        depth=info.depth,
        nodes=info.nodes,
        seldepth=info.seldepth or None,
        hashfull=info.hashfull,
        tbhits=info.tbhits,
        reported_time=round(info.time, 4),
        pv=info.pv[:MAX_PV_LENGTH] if keep_pv else (),
        pondered=answer.pondered,
    )


def _cp(score: Score) -> int | None:
    return score.value if isinstance(score, Cp) else None


def _mate(score: Score) -> int | None:
    return score.moves if isinstance(score, Mate) else None
