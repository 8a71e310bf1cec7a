"""What a search thinks, as the lines of lz-analyze, kata-analyze and cgos-analyze.

Sources: Leela Zero's and KataGo's 'GTP extensions'; 'GTP tournament game expansion' of CGOS;
'Engine analysis integration' of Sabaki. All figures are for the mover.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.limits import Cp, Info, MoveRestriction, Progress, Result
from agent.multipv import unique_first_moves
from protocols.gtp.confidence_bounds import lower_confidence_bound
from protocols.gtp.messages import COLOURS, SYNTAX_ERROR, Arguments, GtpError

# In seconds, where the front end gives no interval.
INTERVAL = 1.0
MIN_INTERVAL = 0.01
MAX_MOVES = 30
# More lines than any position has: what is said of the position itself is of all its moves.
ALL_MOVES = 10_000
# What KataGo can tell too; these may be asked for, but nothing is known of them here.
UNSUPPORTED_KEYWORDS = ("ownershipStdev", "movesOwnershipStdev", "pvEdgeVisits", "noResultValue")
# What is told where it is asked for, by what of a request says so.
REQUEST_FIELDS = {
    "ownership": "ownership",
    "rootInfo": "root",
    "movesOwnership": "moves_ownership",
    "pvVisits": "pv_visits",
}
BOOLEAN_KEYWORDS = (*REQUEST_FIELDS, *UNSUPPORTED_KEYWORDS)
KEYWORDS = ("interval", "minmoves", "maxmoves", "avoid", "allow", *BOOLEAN_KEYWORDS)
# The shares of the points that CGOS writes in one sign each, from the other's to the mover's.
CGOS_OWNERSHIP_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+"


@dataclass(slots=True)
class AnalysisRequest:
    """An analysis that is asked for.

    interval: seconds between lines; min_moves, max_moves: of how many moves each tells, as
    far as there are any. avoided: the moves that each player is not to make; allowed: those that he
    is to choose among, if any; as they are written, each with the plies for which that holds.
    ownership, root, moves_ownership, pv_visits: tell of the points, of the position, of the points
    after each move, and of the visits of each position of a line, too.
    """

    player: int | None = None
    interval: float = INTERVAL
    min_moves: int = 0
    max_moves: int = MAX_MOVES
    avoided: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))
    allowed: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))
    ownership: bool = False
    root: bool = False
    moves_ownership: bool = False
    pv_visits: bool = False

    def search_moves(
        self, player: int, legal: Sequence[Any], find: Callable[[str], Any]
    ) -> tuple[Any, ...]:
        """Return the moves to choose among; none for all of them.

        find: returns the move of a text, GtpError if there cannot be one. Raises GtpError where
        no legal move is left.
        """
        avoided = {find(text) for text in self.avoided[player]}
        allowed = {find(text) for text in self.allowed[player]} or set(legal)
        left = tuple(move for move in legal if move in allowed - avoided)
        if not left:
            raise GtpError("avoid and allow leave no legal move")
        return left if len(left) < len(legal) else ()

    def restrictions(self, find: Callable[[str], Any]) -> tuple[MoveRestriction[Any], ...]:
        """Return what holds below the first move. find: as for `among`."""
        found = []
        for allowed, of_both in ((False, self.avoided), (True, self.allowed)):
            for player, texts in enumerate(of_both):
                for plies in sorted({each for each in texts.values() if each > 1}):
                    moves = frozenset(find(text) for text in texts if texts[text] == plies)
                    found.append(MoveRestriction(player, moves, allowed, plies))
        return tuple(found)


def read_request(arguments: Arguments) -> AnalysisRequest:
    """Read `[colour] [interval] [keyword value ...]`; intervals in hundredths of a second."""
    request, max_moves = AnalysisRequest(arguments.optional_player()), 0
    if arguments and arguments.peek()[0].isdigit():
        request.interval = _interval(arguments)
    while arguments:
        word = arguments.word()
        keyword = next((each for each in KEYWORDS if each.lower() == word.lower()), None)
        if keyword is None:
            raise GtpError(f"{SYNTAX_ERROR}: no keyword {word}; there are {', '.join(KEYWORDS)}")
        if not arguments:
            raise GtpError(f"{SYNTAX_ERROR}: {keyword} needs a value")
        if keyword == "interval":
            request.interval = _interval(arguments)
        elif keyword == "minmoves":
            request.min_moves = min(arguments.integer(), ALL_MOVES)
        elif keyword == "maxmoves":
            max_moves = max(arguments.integer(), 1)
        elif keyword in BOOLEAN_KEYWORDS:
            value = _read_bool(keyword, arguments)
            if keyword in REQUEST_FIELDS:
                setattr(request, REQUEST_FIELDS[keyword], value)
        else:
            _restrict(request, keyword, arguments)
    request.max_moves = max_moves or max(request.max_moves, request.min_moves)
    return request


def _interval(arguments: Arguments) -> float:
    return max(arguments.seconds() / 100, MIN_INTERVAL)


def _read_bool(keyword: str, arguments: Arguments) -> bool:
    word = arguments.word().lower()
    if word not in ("true", "false"):
        raise GtpError(f"{SYNTAX_ERROR}: {keyword} is true or false, not {word}")
    return word == "true"


def _restrict(request: AnalysisRequest, keyword: str, arguments: Arguments) -> None:
    """Read `avoid` or `allow`: a colour, vertices, and until which ply they hold."""
    player, vertices, plies = arguments.player(), arguments.word(), arguments.integer()
    if plies == 0:
        return
    texts = [text for text in vertices.split(",") if text]
    if keyword == "allow" and request.allowed[player]:
        raise GtpError(f"{SYNTAX_ERROR}: allow {COLOURS[player]} may be given once")
    known = (request.avoided if keyword == "avoid" else request.allowed)[player]
    known.update((text, max(plies, known.get(text, 0))) for text in texts)
    if request.avoided[player] and request.allowed[player]:
        raise GtpError(f"{SYNTAX_ERROR}: either avoid or allow {COLOURS[player]}, not both")


class AnalysisReporter:
    """The listener of one search: it sends the best lines as they stand, if that is asked for.

    send: takes them, best first; report: takes what a person should know. max_lines: how many
    lines are of use. live: send them during the search, not only at its end.
    """

    def __init__(
        self,
        report: Callable[[str], None],
        send: Callable[[Sequence[Info[Any]]], None] | None = None,
        max_lines: int = 1,
        *,
        live: bool = True,
    ) -> None:
        self.max_lines = max_lines
        self.error = report
        # The lines of the last iteration.
        self.lines: list[Info[Any]] = []
        self._progress_lines: Sequence[Info[Any]] = ()  # as last told of while it ran
        self._send = send
        self._live = live

    def info(self, info: Info[Any]) -> None:
        """Take one line of play."""
        if info.multipv > 1:
            del self.lines[info.multipv - 1 :]
            self.lines.append(info)
        else:
            # Nothing may follow it: of several lines the one that is played is told alone at the
            # end, and so may be one of an iteration cut short.
            before = self.lines if len(self.lines) > 1 else []
            self.lines = list(unique_first_moves([info, *before]))

    def progress(self, progress: Progress[Any], seconds: float) -> None:
        """Send what is known now."""
        self._progress_lines = progress.lines
        if self._live:
            self._report_lines(progress.lines or self.lines)

    def result(self, result: Result[Any]) -> None:
        """Send what is known at the end, the move that is played first."""
        if _nodes(self._progress_lines) > _nodes(self.lines):  # the last iteration told nothing
            first, *others = sorted(
                self._progress_lines, key=lambda line: line.pv[:1] != (result.move,)
            )
            self.lines = [replace(first, ownership=self._progress_lines[0].ownership), *others]
        self._report_lines(self.lines)

    def _report_lines(self, lines: Sequence[Info[Any]]) -> None:
        if self._send is not None and any(line.visits for line in lines):
            self._send(lines)


def _nodes(lines: Sequence[Info[Any]]) -> int:
    """Return how far the search was when it told the first of these."""
    return lines[0].nodes if lines else 0


def _visits(lines: Sequence[Info[Any]]) -> int:
    return sum(line.visits for line in lines)


@dataclass(frozen=True, slots=True)
class ReportContext:
    """What a line tells of: the request, the legal moves and how they are written.

    max_pv_length: the most moves of a line of play.
    """

    request: AnalysisRequest
    moves: Sequence[Any]
    text: Callable[[Any], str]
    max_pv_length: int

    def reported_lines(self, lines: Sequence[Info[Any]]) -> list[Info[Any]]:
        """Return the lines to tell: those that were visited, and as many more as are asked for."""
        request = self.request
        told = [line for line in lines if line.visits][: request.max_moves]
        least = min(request.min_moves, request.max_moves)
        for line in lines:
            if len(told) < least and not line.visits:
                told.append(line)
        known = {line.pv[0] for line in told}
        rest = (move for move in self.moves if move not in known)
        while len(told) < least and (move := next(rest, None)) is not None:
            told.append(Info(depth=0, score=Cp(0), pv=(move,)))
        return told

    def prior(self, line: Info[Any]) -> float:
        """Return how promising a move looked; where that is not known all are alike."""
        return 1 / max(len(self.moves), 1) if line.prior is None else line.prior

    def pv(self, line: Info[Any], first: int = 0) -> str:
        """Write a line of play, from its first move or a later one on."""
        return " ".join(map(self.text, line.pv[first : self.max_pv_length]))

    def extra_fields(self, line: Info[Any]) -> str:
        """Write what is asked for beyond a line of play, as far as it is known."""
        said = ""
        if self.request.pv_visits and line.pv_visits:
            visits = " ".join(map(str, line.pv_visits[: self.max_pv_length]))
            said += f" pvVisits {visits} pvEdgeVisits {visits}"  # alike in a tree
        if self.request.moves_ownership and line.moves_ownership is not None:
            said += f" movesOwnership {_ownership_text(line.moves_ownership)}"
        return said


def lz_line(scene: ReportContext, lines: Sequence[Info[Any]]) -> str:
    """Return a line of lz-analyze; rates are whole numbers of 10,000."""
    told = [
        f"info move {scene.text(line.pv[0])} visits {line.visits}"
        f" winrate {round(10_000 * winrate(line))} prior {round(10_000 * scene.prior(line))}"
        f" lcb {round(10_000 * winrate_lower_bound(line))} order {order}"
        f" pv {scene.pv(line)}{scene.extra_fields(line)}"
        for order, line in enumerate(scene.reported_lines(lines))
    ]
    return " ".join([*told, *_root_fields(scene, lines)])


def kata_line(scene: ReportContext, lines: Sequence[Info[Any]]) -> str:
    """Return a line of kata-analyze; rates are numbers from 0 to 1."""
    told = [
        f"info move {scene.text(line.pv[0])} visits {line.visits}"
        f" utility {line.expected_outcome or 0.0:.6f} winrate {winrate(line):.6f}{_score(line.lead)}"
        f" prior {scene.prior(line):.6f} lcb {winrate_lower_bound(line):.6f}"
        f" utilityLcb {2 * winrate_lower_bound(line) - 1:.6f} weight {line.visits} order {order}"
        f" pv {scene.pv(line)}{scene.extra_fields(line)}"
        for order, line in enumerate(scene.reported_lines(lines))
    ]
    return " ".join([*told, *_root_fields(scene, lines)])


def _root_fields(scene: ReportContext, lines: Sequence[Info[Any]]) -> Iterator[str]:
    """Generate what is asked for beside the moves, as kata-analyze has it."""
    if scene.request.root:
        root = RootInfo.from_lines(lines)
        yield (
            f"rootInfo visits {root.visits} utility {2 * root.winrate - 1:.6f}"
            f" winrate {root.winrate:.6f}{_score(root.lead)}"
        )
    if scene.request.ownership and (owners := lines[0].ownership) is not None:
        yield f"ownership {_ownership_text(owners)}"


def cgos_line(scene: ReportContext, lines: Sequence[Info[Any]]) -> str:
    """Return a line of cgos-analyze: a JSON object."""
    root = RootInfo.from_lines(lines)
    said: dict[str, Any] = {"winrate": round(root.winrate, 6)}
    if root.lead is not None:
        said["score"] = round(root.lead, 3)
    said |= {
        "visits": root.visits,
        "moves": [_cgos_move(scene, line) for line in scene.reported_lines(lines)],
    }
    if (owners := lines[0].ownership) is not None:
        said["ownership"] = "".join(_cgos_ownership_digit(owner) for owner in owners)
    return json.dumps(said, separators=(",", ":"))


def _cgos_move(scene: ReportContext, line: Info[Any]) -> dict[str, Any]:
    said: dict[str, Any] = {
        "move": scene.text(line.pv[0]),
        "visits": line.visits,
        "winrate": round(winrate(line), 6),
    }
    if line.lead is not None:
        said["score"] = round(line.lead, 3)
    return said | {"prior": round(scene.prior(line), 6), "pv": scene.pv(line, 1)}


def _ownership_text(owners: Sequence[float]) -> str:
    return " ".join(f"{owner + 0.0:.6f}" for owner in owners)


def _cgos_ownership_digit(owner: float) -> str:
    last = len(CGOS_OWNERSHIP_DIGITS) - 1
    return CGOS_OWNERSHIP_DIGITS[round(max(0.0, min(1.0, (owner + 1) / 2)) * last)]


def _score(lead: float | None) -> str:
    if lead is None:
        return ""
    return f" scoreMean {lead:.3f} scoreLead {lead:.3f} scoreSelfplay {lead:.3f}"


@dataclass(frozen=True, slots=True)
class RootInfo:
    """What a search knows of the position itself: the mean of its lines, by their visits."""

    visits: int
    winrate: float
    lead: float | None

    @classmethod
    def from_lines(cls, lines: Sequence[Info[Any]]) -> RootInfo:
        """Return what the lines say together; there is one at least that was visited."""
        visits = _visits(lines)
        leads = [(line.lead, line.visits) for line in lines if line.lead is not None]
        weight = sum(number for _, number in leads)
        return cls(
            visits,
            sum(winrate(line) * line.visits for line in lines) / visits,
            sum(lead * number for lead, number in leads) / weight if weight else lines[0].lead,
        )


def winrate(line: Info[Any]) -> float:
    """Return the mover's share of the wins."""
    return ((line.expected_outcome or 0.0) + 1) / 2


def winrate_lower_bound(line: Info[Any]) -> float:
    """Return what the share of the wins very probably is at least."""
    return max(0.0, lower_confidence_bound(winrate(line), line.visits)) if line.visits else 0.0
