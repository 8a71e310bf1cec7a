"""One game between a visitor and an opponent, with turns, clocks, hints and draw offers.

After each change, the game is saved and sent to all viewers. A restarted server resumes the game.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import sqlite3
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import chess

from agent.agent import describe
from agent.game import ChanceGame
from agent.game_clock import GameClock, TimeSystem
from agent.games.stones import PASS
from agent.io.message import Message
from agent.io.sanitize import sanitize_line
from kempelen.match.game.game_result import GameResult, Termination, draw, win
from kempelen.match.review.move_annotation import MoveQuality
from kempelen.match.review.parsed_game import VERIFIED_QUALITIES
from kempelen.web.channel import Channel, ChannelGroup
from kempelen.web.play.archive import UNKNOWN_TIME, Archive, SavedGame, player_names
from kempelen.web.play.boards import ChessGame, GoGame, PlayedGame, initial_game, replay_game
from kempelen.web.play.hints import best_line, explain, move_quality
from kempelen.web.play.opponents import (
    CHECK_SECONDS,
    HINT_SECONDS,
    SEARCH_TIMEOUT_MARGIN_S,
    Opponent,
    is_compiling,
    start_hint_engine,
    start_opponent,
)
from kempelen.web.play.setup import CHESS, GameSetup, find_setup_game, is_go
from kempelen.web.site_context import SiteContext
from protocols.client.process import EngineError
from protocols.client.uci import RESIGNATION, PlayResult, SearchRequest
from protocols.tasks import cancel_all
from protocols.xboard.draws import DrawPolicy

Answer = TypeVar("Answer")

# Seconds without viewers after which an idle opponent is closed.
IDLE_OPPONENT_TIMEOUT_S = 120.0


class GameSession:
    """A game that is being played or viewed. A lock serialises changes of the game."""

    def __init__(self, saved: SavedGame, site: SiteContext, archive: Archive) -> None:
        self.saved = saved
        self.board: PlayedGame = replay_game(saved.setup, saved.moves, saved.dead)
        self.subscribers = ChannelGroup()
        game = saved.setup.game  # one that the page Analyse can open?
        has_setup = find_setup_game(game, site.resources) is not None
        self._analysable = game == CHESS or is_go(game) or has_setup
        self._site = site
        self._archive = archive
        self._opponent: Opponent | None = None
        self._search_task: asyncio.Task[None] | None = None
        self._hint_task: asyncio.Task[None] | None = None
        self._check_task: asyncio.Task[None] | None = None
        self._hint_wanted = False  # after the check of a move
        self._flag_timer: asyncio.TimerHandle | None = None
        self._suspend_timer: asyncio.TimerHandle | None = None
        self._background_tasks: set[asyncio.Task[None]] = set()  # references keep tasks alive
        self._lock = asyncio.Lock()
        self._watchers = 0
        self._visitor: Hashable = saved.owner  # whose lock slow calls hold
        self._error = ""
        self._unsaved = False
        self.deleted = False  # a deleted game is not saved again
        self._draw_policy = DrawPolicy()
        self._clocks: list[GameClock] = []  # empty in a game without clocks
        if (base := saved.setup.base) is not None:
            system = TimeSystem(base, increment=saved.setup.increment)
            self._clocks = [GameClock(system, seconds) for seconds in saved.clocks or (base, base)]

    @property
    def idle(self) -> bool:
        """Whether there are no viewers, no search, no running opponent and no unsaved moves."""
        # A checked move is played later.
        searching = self._search_task or self._hint_task or self._check_task
        return not (self._watchers or searching or self._opponent or self._unsaved)

    async def serve(self, channel: Channel) -> None:
        """Serve a page until it disconnects. Only the owner may change the game."""
        is_owner = channel.owner == self.saved.owner
        if is_owner:
            self._visitor = channel.visitor
        if self._suspend_timer is not None:
            self._suspend_timer.cancel()

        async def on_message(message: dict[str, Any]) -> None:
            if is_owner:  # an action runs to its end even if the page disconnects
                await asyncio.shield(
                    self._run_in_background(self._handle_message(channel, message))
                )

        self._watchers += 1
        try:
            channel.send({"kind": "welcome", "mine": is_owner})
            async with self._lock:
                if self.deleted:
                    await channel.reject("game not found")
                    return
                await self._continue_game()
                if self.saved.game_result is not None:  # the first search for dead stones is slow
                    await self._run_in_thread(self.board.view)
            await self.subscribers.serve(channel, self.state, on_message)
        finally:
            self._watchers -= 1
            if not self._watchers:
                self._hint_wanted = False
                if self._hint_task is not None:
                    self._hint_task.cancel()
                self._suspend_timer = self._call_later(
                    IDLE_OPPONENT_TIMEOUT_S, self._suspend_unless_watched
                )

    def state(self) -> dict[str, Any]:
        """Return the full state of the game as JSON for the page."""
        saved, board = self.saved, self.board
        white, black = player_names(saved, board)
        names = [white, black] if board.white == 0 else [black, white]
        return {
            "kind": "game",
            "id": saved.id,
            "game": saved.setup.game,
            "side": saved.setup.side,
            "white": board.white,
            "names": names,
            "mover": board.mover,
            "ply": len(saved.moves),
            "movers": board.movers,
            "level": saved.setup.level_name,
            "about": _about(saved.setup, board),
            "base": saved.setup.base,
            "clocks": [round(seconds, 2) for seconds in self._times()] or None,
            "running": [clock.running for clock in self._clocks],
            "thinking": self._search_task is not None,
            "compiling": is_compiling(self._opponent),
            "trouble": self._error,
            "result": saved.game_result.result if saved.game_result else "",
            "reason": saved.game_result.termination.value if saved.game_result else "",
            "detail": saved.game_result.detail if saved.game_result else "",
            "analysable": self._analysable,
            "board": board.view(),
        }

    async def suspend(self) -> None:
        """Stop all activity in the game until a page opens the game again."""
        async with self._lock:
            await self._suspend()

    async def discard(self) -> None:
        """Stop a deleted game, and disconnect its viewers."""
        self.deleted = True
        await self.suspend()
        for channel in tuple(self.subscribers.channels):
            with contextlib.suppress(RuntimeError, OSError):  # the page may have disconnected
                await channel.reject("game not found")

    async def _suspend_unless_watched(self) -> None:
        async with self._lock:
            if not self._watchers:
                await self._suspend()

    async def _suspend(self) -> None:
        for timer in (self._flag_timer, self._suspend_timer):
            if timer is not None:
                timer.cancel()
        await self._cancel_hint()
        await self._stop_search()
        await self._close_opponent()
        if self._unsaved:
            self._save()

    def _call_later(
        self, seconds: float, action: Callable[[], Coroutine[Any, Any, None]]
    ) -> asyncio.TimerHandle:
        loop = asyncio.get_running_loop()
        return loop.call_later(seconds, lambda: self._run_in_background(action()))

    def _run_in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)
        return task

    async def _run_in_thread(self, function: Callable[[], Answer]) -> Answer:
        """Run a slow function in a thread, one per visitor at a time."""
        async with self._site.game_locks.lock(self._visitor, math.inf):
            return await asyncio.to_thread(function)

    async def _handle_message(self, channel: Channel, message: Mapping[str, Any]) -> None:
        actions = {
            "move": self._move,
            "back": self._take_back,
            "hint": self._give_hint,
            "resign": self._resign,
            "draw": self._offer_draw,
            "dead": self._dispute_dead,
            "resume": self._resume,
            "again": self._retry,
        }
        action = actions.get(str(message.get("do")))
        if action is None:
            channel.send({"kind": "error", "text": "unknown action"})
            return
        async with self._lock:
            try:
                if self.deleted:
                    raise ValueError("game not found")
                await action(message)
            except ValueError as error:
                channel.send({"kind": "error", "text": sanitize_line(str(error), 200)})
                channel.send(self.state())

    async def _move(self, message: Mapping[str, Any]) -> None:
        text, ply = message.get("move"), message.get("ply")
        self._require_turn()
        if not isinstance(text, str) or len(text) > 200:
            raise ValueError("invalid move (expected text of at most 200 characters)")
        if ply is not None and ply != len(self.saved.moves):
            raise ValueError("the move was for an earlier position")
        mover = self.board.mover
        if not self._clocks or not self._clocks[mover].flagged:
            try:
                if message.get("check") is True and await self._begin_check(text):
                    return
                self.board.play(text)
            except ValueError:
                raise ValueError("illegal move") from None
        self._stop_clock(mover)
        if self.saved.game_result is None:
            await self._after_move()

    async def _begin_check(self, text: str) -> bool:
        """Start a search that warns of a mistake before it is played. Return whether it started.

        Raise ValueError if the move is illegal. Games with dice are not checked, and neither are
        moves that end the game.
        """
        game: Any = self.board.game
        if isinstance(game, ChanceGame):
            return False
        move = self.board.parse(text)
        written = game.text(move)
        game.play(move)
        over = game.outcome() is not None
        game.undo()
        if over:
            return False
        await self._cancel_hint()
        self._check_task = asyncio.create_task(self._check_move(list(self.saved.moves), written))
        return True

    async def _cancel_hint(self) -> None:
        """Cancel the searches for a hint and for a mistake."""
        tasks = {task for task in (self._hint_task, self._check_task) if task is not None}
        self._hint_task = self._check_task = None
        self._hint_wanted = False
        await cancel_all(tasks)

    async def _take_back(self, message: Mapping[str, Any]) -> None:
        side = self.saved.setup.side
        movers = self.board.movers
        if side not in movers:
            raise ValueError("no move to take back")
        await self._reopen()
        while movers:
            self.board.undo()
            if self.board.mover == side and self.board.legal_moves():
                break
        else:  # all that was left were the chance events before the first move
            self.board = initial_game(self.saved.setup)
        await self._play_on()

    async def _reopen(self) -> None:
        """Prepare the game for taking back moves."""
        await self._stop_search()
        self.saved.game_result = self.saved.dead = None
        if isinstance(self.board, GoGame):
            self.board.decided_dead = None
        self._error = ""
        self._draw_policy.clear()

    async def _play_on(self) -> None:
        """Continue after moves have been taken back."""
        saved = self.saved
        saved.moves[:] = self.board.moves
        del saved.times[len(saved.moves) :]
        self._cancel_clocks()
        await self._continue_game()
        self._save_and_broadcast()

    async def _dispute_dead(self, message: Mapping[str, Any]) -> None:
        """Change a chain from alive to dead or back, and count the game again."""
        board, point = self._require_counted(), message.get("point")
        if not isinstance(point, str) or len(point) > 3:
            raise ValueError("there is no stone at this point")
        await self._run_in_thread(lambda: board.flip_dead(point))  # may judge the position first
        self.saved.dead = board.decided_dead
        await self._check_result()
        self._save_and_broadcast()

    async def _resume(self, message: Mapping[str, Any]) -> None:
        """Take back the passes at the end of a game of Go, so that a dispute can be played out."""
        board = self._require_counted()
        await self._reopen()
        while board.moves and board.game.last_move == PASS:
            board.undo()
        await self._play_on()

    def _require_counted(self) -> GoGame:
        board, result = self.board, self.saved.game_result
        by_rules = result is not None and result.termination is Termination.RULES
        if not by_rules or not isinstance(board, GoGame) or not board.can_dispute:
            raise ValueError("the game is not being counted")
        return board

    async def _give_hint(self, message: Mapping[str, Any]) -> None:
        self._require_turn()
        if self._check_task is not None:
            self._hint_wanted = True
        elif self._hint_task is None:
            self._hint_task = asyncio.create_task(self._send_hint(list(self.saved.moves)))
            # The callback runs even if the task is cancelled before it starts.
            self._hint_task.add_done_callback(self._end_hint)

    async def _give_wanted_hint(self) -> None:
        """Give the hint that was requested during the check of a move, or say why not."""
        wanted, self._hint_wanted = self._hint_wanted, False
        if not wanted or self.saved.game_result is not None:
            return
        try:
            await self._give_hint({})
        except ValueError:
            self.subscribers.broadcast(
                {"kind": "error", "text": "no hint, because the move has been played"}
            )

    async def _send_hint(self, moves: Sequence[str]) -> None:
        """Send a hint to all pages, unless the moves of the game no longer equal `moves`."""
        try:
            ((board, result),) = await self._search(moves)
            if moves == self.saved.moves:
                move = result.move
                hint = {
                    "kind": "hint",
                    "move": move,
                    "text": _written(board, move),
                    "ply": len(moves),
                    "line": best_line(board, result.info),
                    "why": explain(board, move, result.info),
                }
                self.subscribers.broadcast(hint)
        except Exception as error:  # noqa: BLE001 - a failed hint must not end the game
            self.subscribers.broadcast({"kind": "error", "text": self._error_text(error)})

    def _end_hint(self, task: asyncio.Task[None]) -> None:
        if self._hint_task is task:
            self._hint_task = None

    async def _search(
        self, moves: Sequence[str], *variations: str, seconds: float = HINT_SECONDS
    ) -> list[tuple[PlayedGame, PlayResult]]:
        """Search the position after `moves`, and the positions after each move of `variations`."""
        site, setup = self._site, self.saved.setup
        site.engine_quota.acquire(self.saved.owner)
        try:
            engine = await start_hint_engine(setup, self.board, site)
            try:
                found = []
                for more in ((), *((move,) for move in variations)):
                    board = await self._run_in_thread(partial(replay_game, setup, [*moves, *more]))
                    request = self._request(seconds, board)
                    found.append(
                        (board, await engine.search(request, seconds + SEARCH_TIMEOUT_MARGIN_S))
                    )
                return found
            finally:
                await engine.close()
        finally:
            site.engine_quota.release(self.saved.owner)

    async def _check_move(self, moves: Sequence[str], move: str) -> None:
        """Play a move, unless a short search shows that it is a mistake. Then ask the player."""
        warning, error = None, ""
        try:
            warning = await self._find_refutation(moves, move)
        except Exception as failure:  # noqa: BLE001 - a game can be played without warnings
            error = Message("move not checked: {}", Message(self._error_text(failure)))
        async with self._lock:
            self._check_task = None
            if self.deleted or self.saved.game_result is not None:
                return
            if moves == self.saved.moves:
                if warning is not None:
                    self.subscribers.broadcast(warning)
                else:
                    await self._move({"move": move, "ply": len(moves)})
            if error:
                self.subscribers.broadcast({"kind": "error", "text": error})
            await self._give_wanted_hint()

    async def _find_refutation(self, moves: Sequence[str], move: str) -> dict[str, Any] | None:
        """Return the warning if a move is a mistake or a blunder, otherwise None.

        A move that is good after the first search is not searched again.
        """
        quality = MoveQuality.GOOD
        for seconds in CHECK_SECONDS:
            (board, before), (after, reply) = await self._search(moves, move, seconds=seconds)
            if not (before.info and before.info.depth and reply.info and reply.info.depth):
                continue  # no iteration was completed
            same_mover = board.mover == after.mover
            quality = move_quality(before.info, reply.info, move, same_mover=same_mover)
            if quality is MoveQuality.GOOD:
                return None
        if quality not in VERIFIED_QUALITIES:
            return None
        return {
            "kind": "blunder",
            "grade": quality,
            "move": move,
            "text": _written(board, move),
            "ply": len(moves),
            "reply": _written(after, reply.move),
            "answer": reply.move,
            "why": explain(after, reply.move, reply.info),
        }

    async def _resign(self, message: Mapping[str, Any]) -> None:
        self._require_unfinished()
        await self._stop_search()
        self._end(win(self._side_of(1 - self.saved.setup.side), Termination.RESIGNATION))

    async def _offer_draw(self, message: Mapping[str, Any]) -> None:
        self._require_turn()
        board = self.board
        if isinstance(board, ChessGame) and self._draw_policy.accepts(board.board):
            self._end(draw(Termination.RULES, "by agreement"))
        else:
            self.subscribers.broadcast({"kind": "refused draw"})

    async def _retry(self, message: Mapping[str, Any]) -> None:
        self._error = ""
        await self._continue_game()
        self.subscribers.broadcast(self.state())

    async def _after_move(self) -> None:
        saved, board = self.saved, self.board
        if self._clocks:
            saved.times += [UNKNOWN_TIME] * (len(saved.moves) - len(saved.times))
            saved.times += [self._times()[mover] for mover in board.movers[len(saved.moves) :]]
        saved.moves[:] = board.moves
        if isinstance(board, ChessGame) or board.too_long or not board.legal_moves():
            await self._check_result()
        await self._continue_game()
        self._save_and_broadcast()

    async def _check_result(self) -> None:
        """Set the result if the game is over. Go is scored in a thread, because this is slow."""
        if isinstance(self.board, ChessGame):
            self.saved.game_result = self.board.game_result()
            return
        self.saved.game_result = await self._run_in_thread(self.board.game_result)

    async def _continue_game(self) -> None:
        if self.saved.game_result is not None:
            return
        if not self.board.legal_moves():  # the server stopped before it saved the result
            await self._check_result()
            self._save_and_broadcast()
            return
        opponent_to_move = self.board.mover != self.saved.setup.side
        if opponent_to_move and self._search_task is None and not self._error:
            self._search_task = asyncio.create_task(self._think())
        self._start_clock()

    async def _think(self) -> None:
        """Let the opponent search and move. After an error, the game waits for a retry."""
        ply = len(self.saved.moves)
        try:
            opponent = self._opponent or await self._start_opponent()
            answer = await opponent.search(
                self._request(self.saved.setup.seconds), self._search_timeout()
            )
        except Exception as error:  # noqa: BLE001 - after any failure the game waits
            async with self._lock:
                self._search_task = None
                self._error = self._error_text(error, self.saved.setup.opponent_name)
                await self._close_opponent()
                self.subscribers.broadcast(self.state())
            return
        async with self._lock:
            self._search_task = None
            if ply == len(self.saved.moves) and self.saved.game_result is None:
                await self._take_answer(answer)

    async def _take_answer(self, answer: PlayResult) -> None:
        self._stop_clock(self.board.mover)
        if self.saved.game_result is not None:
            return
        if answer.move == RESIGNATION:
            self._end(win(self._side_of(self.saved.setup.side), Termination.RESIGNATION))
            return
        try:
            self.board.play(answer.move)
        except ValueError:
            self._error = sanitize_line(
                Message(
                    "{} made an illegal move: {!r}", self.saved.setup.opponent_name, answer.move
                ),
                200,
            )
            self.subscribers.broadcast(self.state())
            return
        self._draw_policy.record_score(cast(Any, answer.info))
        await self._after_move()

    def _error_text(self, error: Exception, opponent: str = "") -> str:
        """Return an error message for visitors, without file names of the server."""
        expected = isinstance(error, EngineError | ValueError) and str(error)
        text = str(error) if expected else describe(error)
        if opponent:
            text = Message("{}: {}", opponent, Message(text))
        return sanitize_line(self._site.session_context.permissions.redact(text), 200)

    async def _start_opponent(self) -> Opponent:
        engines = self._site.engine_quota
        engines.acquire(self.saved.owner)
        try:
            opponent = await start_opponent(self.saved.setup, self.board, self._site)
        except BaseException:
            engines.release(self.saved.owner)
            raise
        self._opponent = opponent
        self._start_clock()
        if self._clocks and self._clocks[self.board.mover].running:  # no page knows this yet
            self.subscribers.broadcast(self.state())
        return opponent

    def _request(self, seconds: float, board: PlayedGame | None = None) -> SearchRequest:
        saved, board = self.saved, board or self.board
        clocks: dict[str, Any] = {"movetime": seconds}
        if self._clocks and self._search_task is asyncio.current_task():
            white, black = self._clocks[board.white], self._clocks[1 - board.white]
            clocks = {"white": white.side_clock(), "black": black.side_clock()}
        return SearchRequest(
            fen=saved.setup.fen or None,
            moves=tuple(board.moves),
            side=self._side_of(board.mover),
            mover=board.mover,
            movers=tuple(board.movers),
            **clocks,
        )

    def _search_timeout(self) -> float:
        return SEARCH_TIMEOUT_MARGIN_S + max(self._times() or [self.saved.setup.seconds])

    def _side_of(self, player: int) -> int:
        return int(player != self.board.white)

    def _times(self) -> list[float]:
        """Return the remaining seconds of both players, or [] in a game without clocks."""
        return [clock.remaining or 0.0 for clock in self._clocks]

    def _start_clock(self) -> None:
        """Run the clock of the player to move, and check it when it reaches zero.

        The clock runs from the player's second move on. It does not run while the opponent is
        starting or has failed.
        """
        if self._flag_timer is not None:
            self._flag_timer.cancel()
        mover = self.board.mover
        ready = mover == self.saved.setup.side or self._opponent is not None
        if self._clocks and ready and mover in self.board.movers:
            self._clocks[mover].start()
            self._flag_timer = self._call_later(self._times()[mover] + 0.02, self._check_flag)

    def _stop_clock(self, mover: int) -> None:
        """Deduct the elapsed time from a player's clock. A player without time left loses.

        The first move takes no time, and adds no increment.
        """
        if not self._clocks or not self._clocks[mover].running:
            return
        clock = self._clocks[mover]
        if clock.flagged:
            clock.set_remaining(0.0)
            self._end(win(self._side_of(1 - mover), Termination.TIME))
        else:
            clock.stop()

    def _cancel_clocks(self) -> None:
        for clock in self._clocks:
            clock.cancel()

    async def _check_flag(self) -> None:
        async with self._lock:
            mover = self.board.mover
            if self.saved.game_result is None and self._clocks[mover].flagged:
                self._stop_clock(mover)

    def _end(self, game_result: GameResult) -> None:
        self.saved.game_result = game_result
        self._cancel_clocks()
        self._save_and_broadcast()

    def _save_and_broadcast(self) -> None:
        self.saved.clocks = self._times() or None
        self._save()
        self.subscribers.broadcast(self.state())

    def _save(self) -> None:
        """Save the game. After an error, try again with the next move or when the session ends."""
        if self.deleted:
            return
        try:
            self._archive.save(self.saved)
            self._unsaved = False
        except sqlite3.Error as error:  # for example a full disk
            self._unsaved = True
            self._site.log.write("failed", game=self.saved.id, error=f"not saved: {error}")

    def _require_unfinished(self) -> None:
        if self.saved.game_result is not None:
            raise ValueError("the game is over")

    def _require_turn(self) -> None:
        self._require_unfinished()
        if self.board.mover != self.saved.setup.side or self._search_task is not None:
            raise ValueError("it is not your turn")

    async def _stop_search(self) -> None:
        if self._search_task is not None:
            task, self._search_task = self._search_task, None
            await cancel_all({task})
            await self._close_opponent()

    async def _close_opponent(self) -> None:
        opponent, self._opponent = self._opponent, None
        if self._clocks:
            self._clocks[1 - self.saved.setup.side].cancel()
        if opponent is not None:
            self._site.engine_quota.release(self.saved.owner)
            with contextlib.suppress(EngineError):
                await opponent.close()


def _written(board: PlayedGame, move: str) -> str:
    """Return a legal move in the notation for users."""
    if isinstance(board, ChessGame):
        return board.board.san(chess.Move.from_uci(move))
    game: Any = board.game
    return str(game.text(board.parse(move)))


def _about(setup: GameSetup, board: PlayedGame) -> dict[str, Any]:
    """Return what the page says about the rules and the clocks of a game."""
    about: dict[str, Any] = {"base": setup.base, "increment": setup.increment}
    if isinstance(board, ChessGame):
        about |= {"variant": setup.variant, "chess960": setup.chess960}
    elif isinstance(board, GoGame):
        columns, rows = board.game.width, board.game.height
        about |= {"columns": columns, "rows": rows, "komi": board.komi, "rules": setup.rules}
    return about
