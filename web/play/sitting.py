"""One game between a visitor and an opponent: whose turn it is, the clocks, and what is asked.

All is done in the loop, but for what takes long, and one thing after the other: whoever changes
the game holds its lock, so that nothing else does while he waits for something. After each change
the game is kept, so that a server that begins again goes on with it, and told to all who look on.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, cast

import chess

from agent.border.plain_text import plain
from agent.limits import SideClock
from agent.player import describe
from protocols.client.process import EngineError
from protocols.client.uci import RESIGNATION, Answer, SearchRequest
from protocols.tasks import cancel_all
from protocols.xboard.draws import Agreement
from tournament.verdicts import Termination, Verdict, draw, win
from web.channel import Audience, Channel
from web.play.archive import Archive, KeptGame, names_of
from web.play.boards import ChessTable, PlayBoard, at_ply
from web.play.opponents import (
    HINT_SECONDS,
    PATIENCE,
    Adversary,
    adviser_of,
    opponent_of,
)
from web.site import Site

# How long an opponent of whom nobody asks anything is kept, in seconds.
UNASKED = 120.0


class Sitting:
    """A game that is being played, or looked at."""

    def __init__(self, kept: KeptGame, site: Site, archive: Archive) -> None:
        self.kept = kept
        self.board: PlayBoard = at_ply(kept.setup, kept.moves)
        self.audience = Audience()
        self._site = site
        self._archive = archive
        self._opponent: Adversary | None = None
        self._task: asyncio.Task[None] | None = None
        self._hint: asyncio.Task[None] | None = None
        self._flag: asyncio.TimerHandle | None = None
        self._leaving: asyncio.TimerHandle | None = None
        self._beside: set[asyncio.Task[None]] = set()  # what is done and nobody must wait for
        self._changing = asyncio.Lock()
        self._visitors = 0
        self._since = time.monotonic()
        self._trouble = ""
        self._agreement = Agreement()
        if kept.setup.base is not None and kept.clocks is None:
            kept.clocks = [kept.setup.base, kept.setup.base]

    @property
    def idle(self) -> bool:
        """Whether nobody looks at it and nothing goes on."""
        return not self._visitors and self._task is None and self._opponent is None

    async def attend(self, channel: Channel) -> None:
        """Serve a page until it is gone. Only the game's owner may do anything."""
        mine = channel.owner == self.kept.owner
        if self._leaving is not None:
            self._leaving.cancel()

        async def heard(message: dict[str, Any]) -> None:
            if mine:  # what is begun is done to its end, though the page is gone meanwhile
                await asyncio.shield(self._begin(self._act(channel, message)))

        self._visitors += 1
        try:
            channel.tell({"kind": "welcome", "mine": mine})
            async with self._changing:
                await self._settle()
                if self.kept.verdict is not None:  # what is dead takes long to tell, once
                    await asyncio.to_thread(self.board.view)
            await self.audience.attend(channel, self.state, heard)
        finally:
            self._visitors -= 1
            if not self._visitors:
                self._leaving = self._later(UNASKED, self._rest_unless_visited)

    def state(self) -> dict[str, Any]:
        """Return all that a page shows."""
        kept, board = self.kept, self.board
        white, black = names_of(kept, board)
        names = [white, black] if board.white == 0 else [black, white]
        return {
            "kind": "game",
            "id": kept.id,
            "game": kept.setup.game,
            "side": kept.setup.side,
            "white": board.white,
            "names": names,
            "mover": board.mover,
            "ply": len(kept.moves),
            "movers": board.movers,
            "clocks": self._clocks(),
            "thinking": self._task is not None,
            "trouble": self._trouble,
            "result": kept.verdict.result if kept.verdict else "",
            "reason": kept.verdict.termination.value if kept.verdict else "",
            "detail": kept.verdict.detail if kept.verdict else "",
            "board": board.view(),
        }

    async def rest(self) -> None:
        """End what goes on for this game; it goes on when somebody looks at it again."""
        async with self._changing:
            await self._rest()

    async def _rest_unless_visited(self) -> None:
        async with self._changing:
            if not self._visitors:
                await self._rest()

    async def _rest(self) -> None:
        for timer in (self._flag, self._leaving):
            if timer is not None:
                timer.cancel()
        hint, self._hint = self._hint, None
        if hint is not None:
            await cancel_all({hint})
        await self._interrupt()
        await self._dismiss()

    def _later(
        self, seconds: float, act: Callable[[], Coroutine[Any, Any, None]]
    ) -> asyncio.TimerHandle:
        """Have something done after so many seconds."""
        loop = asyncio.get_running_loop()
        return loop.call_later(seconds, lambda: self._begin(act()))

    def _begin(self, doing: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Have something done beside whoever asks for it."""
        task = asyncio.create_task(doing)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
        return task

    async def _act(self, channel: Channel, message: Mapping[str, Any]) -> None:
        actions = {
            "move": self._move,
            "back": self._take_back,
            "hint": self._advise,
            "resign": self._resign,
            "draw": self._offer_draw,
            "again": self._settle_anew,
        }
        action = actions.get(str(message.get("do")))
        if action is None:
            channel.tell({"kind": "error", "text": "that cannot be done here"})
            return
        async with self._changing:
            try:
                await action(message)
            except ValueError as error:
                channel.tell({"kind": "error", "text": plain(str(error), 200)})
                channel.tell(self.state())

    async def _move(self, message: Mapping[str, Any]) -> None:
        text, ply = message.get("move"), message.get("ply")
        self._expect_turn()
        if not isinstance(text, str) or len(text) > 200:
            raise ValueError("a move is a short text")
        if ply is not None and ply != len(self.kept.moves):
            raise ValueError("that move was for another position")
        clocks, mover = self._clocks(), self.board.mover
        if clocks is None or clocks[mover] > 0.0:
            try:
                self.board.play(text)
            except ValueError:
                raise ValueError("that is no legal move") from None
        self._spend(mover)
        if self.kept.verdict is None:
            await self._moved()

    async def _take_back(self, message: Mapping[str, Any]) -> None:
        """Take back to the visitor's last decision."""
        side = self.kept.setup.side
        movers = self.board.movers
        if side not in movers:
            raise ValueError("there is no move of yours to take back")
        await self._interrupt()
        kept = self.kept
        kept.verdict = None
        self._trouble = ""
        self._agreement.clear()
        while movers:
            self.board.undo()
            kept.moves[:] = self.board.moves
            legal = self.board.legal()
            if self.board.mover == side and legal:
                break
        self._since = time.monotonic()
        await self._settle()
        self._keep_and_tell()

    async def _advise(self, message: Mapping[str, Any]) -> None:
        self._expect_turn()
        if self._hint is None:
            self._hint = asyncio.create_task(self._tell_hint(list(self.kept.moves)))

    async def _tell_hint(self, moves: Sequence[str]) -> None:
        """Tell what to play after these moves, unless others have been made by then."""
        try:
            found = await self._advice()
            if moves == self.kept.moves:
                text = found
                if isinstance(self.board, ChessTable):
                    text = self.board.board.san(chess.Move.from_uci(found))
                hint = {"kind": "hint", "move": found, "text": text, "ply": len(moves)}
                self.audience.tell(hint)
        except Exception as error:  # noqa: BLE001 - a hint is no more than that
            self.audience.tell({"kind": "error", "text": self._words(error)})
        finally:
            self._hint = None

    async def _advice(self) -> str:
        """Return what our own agent would play. Raises EngineError."""
        site, owner = self._site, self.kept.owner
        site.engines.enter(owner)
        try:
            adviser = await adviser_of(self.kept.setup, self.board, site)
            try:
                request = self._request(HINT_SECONDS)
                return (await adviser.search(request, HINT_SECONDS + PATIENCE)).move
            finally:
                await adviser.close()
        finally:
            site.engines.leave(owner)

    async def _resign(self, message: Mapping[str, Any]) -> None:
        self._expect_going_on()
        await self._interrupt()
        self._end(win(self._side_of(1 - self.kept.setup.side), Termination.RESIGNATION))

    async def _offer_draw(self, message: Mapping[str, Any]) -> None:
        self._expect_turn()
        board = self.board
        if isinstance(board, ChessTable) and self._agreement.accepts(board.board):
            self._end(draw(Termination.RULES, "by agreement"))
        else:
            self.audience.tell({"kind": "refused draw"})

    async def _settle_anew(self, message: Mapping[str, Any]) -> None:
        """Try again after the opponent has failed."""
        self._trouble = ""
        await self._settle()
        self.audience.tell(self.state())

    async def _moved(self) -> None:
        """Keep a move that was made, and see how the game goes on."""
        kept = self.kept
        kept.moves[:] = self.board.moves
        if not self.board.legal() or isinstance(self.board, ChessTable):
            await self._judge()
        if kept.verdict is None and len(kept.moves) % 100 == 0:
            await self._judge()
        self._since = time.monotonic()
        await self._settle()
        self._keep_and_tell()

    async def _judge(self) -> None:
        """Find out whether the game is over; to score Go takes long enough for a thread."""
        if isinstance(self.board, ChessTable):
            self.kept.verdict = self.board.verdict()
            return
        self.kept.verdict = await asyncio.to_thread(self.board.verdict)

    async def _settle(self) -> None:
        """Have the opponent think if it is his turn, and let the clock of the mover run."""
        if self.kept.verdict is not None:
            return
        if not self.board.legal():  # it ended, and the server with it
            await self._judge()
            self._keep_and_tell()
            return
        theirs = self.board.mover != self.kept.setup.side
        if theirs and self._task is None and not self._trouble:
            self._since = time.monotonic()
            self._task = asyncio.create_task(self._think())
        self._set_flag()

    async def _think(self) -> None:
        """Have the opponent move; whatever goes wrong is told, and the game waits."""
        ply = len(self.kept.moves)
        try:
            opponent = self._opponent or await self._invite()
            answer = await opponent.search(self._request(self.kept.setup.seconds), self._patience())
        except Exception as error:  # noqa: BLE001 - whatever an opponent does, the game waits
            async with self._changing:
                self._task = None
                self._trouble = self._words(error, f"{self.kept.setup.opponent_name}: ")
                await self._dismiss()
                self.audience.tell(self.state())
            return
        async with self._changing:
            self._task = None
            if ply == len(self.kept.moves) and self.kept.verdict is None:
                await self._take_answer(answer)

    async def _take_answer(self, answer: Answer) -> None:
        """Make the move that the opponent has found."""
        self._spend(self.board.mover)
        if self.kept.verdict is not None:
            return
        if answer.move == RESIGNATION:
            self._end(win(self._side_of(self.kept.setup.side), Termination.RESIGNATION))
            return
        try:
            self.board.play(answer.move)
        except ValueError:
            self._trouble = plain(f"{self.kept.setup.opponent_name} played {answer.move!r}", 200)
            self.audience.tell(self.state())
            return
        self._agreement.note(cast(Any, answer.info))
        await self._moved()

    def _words(self, error: Exception, before: str = "") -> str:
        """Return what went wrong as visitors may see it: without the owner's files."""
        foreseen = isinstance(error, EngineError | ValueError) and str(error)
        text = str(error) if foreseen else describe(error)
        return plain(self._site.allowance.permissions.hide(before + text), 200)

    async def _invite(self) -> Adversary:
        """Start the opponent; what that takes is on nobody's clock. Raises EngineError."""
        engines = self._site.engines
        engines.enter(self.kept.owner)
        try:
            opponent = await opponent_of(self.kept.setup, self.board, self._site)
        except BaseException:
            engines.leave(self.kept.owner)
            raise
        self._opponent = opponent
        self._since = time.monotonic()
        self._set_flag()
        return opponent

    def _request(self, seconds: float) -> SearchRequest:
        kept, board = self.kept, self.board
        clocks: dict[str, Any] = {"movetime": seconds}
        if kept.clocks is not None and self._task is asyncio.current_task():
            increment = kept.setup.increment
            white, black = (
                SideClock(kept.clocks[player], increment)
                for player in (board.white, 1 - board.white)
            )
            clocks = {"white": white, "black": black}
        return SearchRequest(
            fen=kept.setup.fen or None,
            moves=tuple(board.moves),
            side=self._side_of(board.mover),
            mover=board.mover,
            movers=tuple(board.movers),
            **clocks,
        )

    def _patience(self) -> float:
        clocks = self.kept.clocks
        return PATIENCE + (self.kept.setup.seconds if clocks is None else max(clocks))

    def _side_of(self, player: int) -> int:
        """Return the side of a player: 0 is White."""
        return int(player != self.board.white)

    def _clocks(self) -> list[float] | None:
        """Return what is left of both clocks at this moment."""
        if self.kept.clocks is None:
            return None
        clocks = list(self.kept.clocks)
        if self._runs:
            clocks[self.board.mover] -= time.monotonic() - self._since
        return [round(max(left, 0.0), 2) for left in clocks]

    @property
    def _runs(self) -> bool:
        """Whether time runs: not that of an opponent who is not there yet, or no longer."""
        mover = self.board.mover
        here = mover == self.kept.setup.side or self._opponent is not None
        return self.kept.verdict is None and mover in (0, 1) and here

    def _spend(self, mover: int) -> None:
        """Take the time of whoever has moved off his clock; who has none left has lost."""
        clocks = self.kept.clocks
        if clocks is None:
            return
        clocks[mover] -= time.monotonic() - self._since
        if clocks[mover] <= 0.0:
            clocks[mover] = 0.0
            self._end(win(self._side_of(1 - mover), Termination.TIME))
        else:
            clocks[mover] += self.kept.setup.increment

    def _set_flag(self) -> None:
        """Have somebody look at the clock when it will have run out."""
        if self._flag is not None:
            self._flag.cancel()
        clocks = self._clocks()
        if clocks is not None and self._runs:
            self._flag = self._later(clocks[self.board.mover] + 0.02, self._look_at_clock)

    async def _look_at_clock(self) -> None:
        async with self._changing:
            clocks = self._clocks()
            if self._runs and clocks is not None and clocks[self.board.mover] <= 0.0:
                self._spend(self.board.mover)

    def _end(self, verdict: Verdict) -> None:
        self.kept.verdict = verdict
        self._keep_and_tell()

    def _keep_and_tell(self) -> None:
        self._archive.keep(self.kept)
        self.audience.tell(self.state())

    def _expect_going_on(self) -> None:
        if self.kept.verdict is not None:
            raise ValueError("the game is over")

    def _expect_turn(self) -> None:
        self._expect_going_on()
        if self.board.mover != self.kept.setup.side or self._task is not None:
            raise ValueError("it is not your turn")

    async def _interrupt(self) -> None:
        """Have the opponent stop thinking."""
        if self._task is not None:
            task, self._task = self._task, None
            await cancel_all({task})
            await self._dismiss()

    async def _dismiss(self) -> None:
        opponent, self._opponent = self._opponent, None
        if opponent is not None:
            self._site.engines.leave(self.kept.owner)
            with contextlib.suppress(EngineError):
                await opponent.close()
