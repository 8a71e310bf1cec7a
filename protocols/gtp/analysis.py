"""Parse the commands lz-analyze, kata-analyze and cgos-analyze, and format their output.

All values are from the point of view of the side to move. Sources: 'GTP extensions' of Leela Zero
and of KataGo, 'GTP tournament game expansion' of CGOS, and 'Engine analysis integration' of Sabaki.
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

INTERVAL = 1.0  # default interval in seconds
MIN_INTERVAL = 0.01  # minimum interval in seconds
MAX_MOVES = 30
# More than the number of moves in any position: rootInfo is computed from all moves.
ALL_MOVES = 10_000
ALL_PLIES = 10_000  # more than the depth of any search
NO_MOVE_LEFT = "avoid and allow leave no legal move"
# KataGo keywords that are accepted and ignored.
UNSUPPORTED_KEYWORDS = ("ownershipStdev", "movesOwnershipStdev", "pvEdgeVisits", "noResultValue")
# Fields of AnalysisRequest by keyword.
REQUEST_FIELDS = {
    "ownership": "ownership",
    "rootInfo": "root",
    "movesOwnership": "moves_ownership",
    "pvVisits": "pv_visits",
}
BOOLEAN_KEYWORDS = (*REQUEST_FIELDS, *UNSUPPORTED_KEYWORDS)
KEYWORDS = ("interval", "minmoves", "maxmoves", "avoid", "allow", *BOOLEAN_KEYWORDS)
# CGOS writes ownership as one character per point, from the opponent's to that of the side to move.
CGOS_OWNERSHIP_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+"


@dataclass(slots=True)
class AnalysisRequest:
    """The parsed arguments of an analysis command.

    For each player, `avoided` has the excluded moves as keys, and `allowed` has the only permitted
    moves. The value for a move is the number of plies for which the restriction applies.
    """

    player: int | None = None  # None: the side to move
    interval: float = INTERVAL  # seconds between reports
    min_moves: int = 0  # reached with unvisited moves, if necessary
    max_moves: int = MAX_MOVES
    avoided: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))
    allowed: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))
    ownership: bool = False
    root: bool = False
    moves_ownership: bool = False
    pv_visits: bool = False

    def allow_only(self, moves: Sequence[str]) -> None:
        """Permit both players only these moves, or those of them that they were permitted."""
        names = {move.lower() for move in moves}
        for allowed in self.allowed:
            kept = {move: plies for move, plies in allowed.items() if move.lower() in names}
            if allowed and not kept:
                raise GtpError(NO_MOVE_LEFT)
            allowed.clear()
            allowed.update(kept or dict.fromkeys(moves, ALL_PLIES))

    def search_moves(
        self, player: int, legal: Sequence[Any], find: Callable[[str], Any]
    ) -> tuple[Any, ...]:
        """Return the moves to search, or () for all. Raise `GtpError` if no move is permitted."""
        avoided = {find(text) for text in self.avoided[player]}
        allowed = {find(text) for text in self.allowed[player]} or set(legal)
        remaining = tuple(move for move in legal if move in allowed - avoided)
        if not remaining:
            raise GtpError(NO_MOVE_LEFT)
        return remaining if len(remaining) < len(legal) else ()

    def restrictions(self, find: Callable[[str], Any]) -> tuple[MoveRestriction[Any], ...]:
        """Return the move restrictions below the root. The function `find` parses a move."""
        restrictions = []
        for allowed, by_player in ((False, self.avoided), (True, self.allowed)):
            for player, texts in enumerate(by_player):
                for plies in sorted({plies for plies in texts.values() if plies > 1}):
                    moves = frozenset(find(text) for text in texts if texts[text] == plies)
                    restrictions.append(MoveRestriction(player, moves, allowed, plies))
        return tuple(restrictions)


def read_request(arguments: Arguments) -> AnalysisRequest:
    """Parse `[colour] [interval] [keyword value ...]`. The interval is in centiseconds."""
    request, max_moves = AnalysisRequest(arguments.optional_player()), 0
    if arguments and arguments.peek()[0].isdigit():
        request.interval = _interval(arguments)
    while arguments:
        word = arguments.word()
        keyword = next((name for name in KEYWORDS if name.lower() == word.lower()), None)
        if keyword is None:
            raise GtpError(
                f"{SYNTAX_ERROR}: unknown keyword {word} (expected one of: {', '.join(KEYWORDS)})"
            )
        if not arguments:
            raise GtpError(f"{SYNTAX_ERROR}: missing value of {keyword}")
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
        raise GtpError(f"{SYNTAX_ERROR}: {keyword}: invalid value {word} (expected true or false)")
    return word == "true"


def _restrict(request: AnalysisRequest, keyword: str, arguments: Arguments) -> None:
    player, vertices, plies = arguments.player(), arguments.word(), arguments.integer()
    if plies == 0:
        return
    texts = [text for text in vertices.split(",") if text]
    if keyword == "allow" and request.allowed[player]:
        raise GtpError(f"{SYNTAX_ERROR}: more than one allow for {COLOURS[player]}")
    restricted = (request.avoided if keyword == "avoid" else request.allowed)[player]
    restricted.update((text, max(plies, restricted.get(text, 0))) for text in texts)
    if request.avoided[player] and request.allowed[player]:
        raise GtpError(f"{SYNTAX_ERROR}: both avoid and allow for {COLOURS[player]}")


class AnalysisReporter:
    """Collects the `max_lines` variations of one search and passes them to `send`, best first.

    If `live` is set, the variations found so far are also sent during the search.
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
        self._progress_lines: Sequence[Info[Any]] = ()  # from the last progress report
        self._send = send
        self._live = live

    def info(self, info: Info[Any]) -> None:
        if info.multipv > 1:
            del self.lines[info.multipv - 1 :]
            self.lines.append(info)
        else:
            # Keep the other lines, because none may follow at the end of the search.
            earlier = self.lines if len(self.lines) > 1 else []
            self.lines = list(unique_first_moves([info, *earlier]))

    def progress(self, progress: Progress[Any], seconds: float) -> None:
        self._progress_lines = progress.lines
        if self._live:
            self._report_lines(progress.lines or self.lines)

    def result(self, result: Result[Any]) -> None:
        """Send the final variations, starting with the chosen move."""
        if _nodes(self._progress_lines) > _nodes(self.lines):  # The last iteration is incomplete.
            first, *others = sorted(
                self._progress_lines, key=lambda line: line.pv[:1] != (result.move,)
            )
            self.lines = [replace(first, ownership=self._progress_lines[0].ownership), *others]
        self._report_lines(self.lines)

    def show(self, lines: Sequence[Info[Any]]) -> None:
        """Send variations, best first."""
        self._report_lines(lines)

    def _report_lines(self, lines: Sequence[Info[Any]]) -> None:
        if self._send is not None and any(line.visits for line in lines):
            self._send(lines)


def _nodes(lines: Sequence[Info[Any]]) -> int:
    return lines[0].nodes if lines else 0


def _visits(lines: Sequence[Info[Any]]) -> int:
    return sum(line.visits for line in lines)


@dataclass(frozen=True, slots=True)
class ReportContext:
    """The data for formatting the reports of one analysis."""

    request: AnalysisRequest
    moves: Sequence[Any]
    text: Callable[[Any], str]
    max_pv_length: int  # in moves

    def reported_lines(self, lines: Sequence[Info[Any]]) -> list[Info[Any]]:
        """Return up to `max_moves` lines with visits, and others up to a total of `min_moves`."""
        request = self.request
        reported = [line for line in lines if line.visits][: request.max_moves]
        minimum = min(request.min_moves, request.max_moves)
        for line in lines:
            if len(reported) < minimum and not line.visits:
                reported.append(line)
        seen = {line.pv[0] for line in reported}
        rest = (move for move in self.moves if move not in seen)
        while len(reported) < minimum and (move := next(rest, None)) is not None:
            reported.append(Info(depth=0, score=Cp(0), pv=(move,)))
        return reported

    def prior(self, line: Info[Any]) -> float:
        """Return the prior probability of the first move, or a uniform value if it is unknown."""
        return 1 / max(len(self.moves), 1) if line.prior is None else line.prior

    def pv(self, line: Info[Any], first: int = 0) -> str:
        """Format a variation, starting with the move at index `first`."""
        return " ".join(map(self.text, line.pv[first : self.max_pv_length]))

    def extra_fields(self, line: Info[Any]) -> str:
        """Format the fields `pvVisits` and `movesOwnership` if they are requested and known."""
        text = ""
        if self.request.pv_visits and line.pv_visits:
            visits = " ".join(map(str, line.pv_visits[: self.max_pv_length]))
            text += f" pvVisits {visits} pvEdgeVisits {visits}"  # equal in a tree
        if self.request.moves_ownership and line.moves_ownership is not None:
            text += f" movesOwnership {_ownership_text(line.moves_ownership)}"
        return text


def lz_line(context: ReportContext, lines: Sequence[Info[Any]]) -> str:
    """Return an lz-analyze line, in which rates are integers from 0 to 10,000."""
    moves = [
        f"info move {context.text(line.pv[0])} visits {line.visits}"
        f" winrate {round(10_000 * winrate(line))} prior {round(10_000 * context.prior(line))}"
        f" lcb {round(10_000 * winrate_lower_bound(line))} order {order}"
        f" pv {context.pv(line)}{context.extra_fields(line)}"
        for order, line in enumerate(context.reported_lines(lines))
    ]
    return " ".join([*moves, *_root_fields(context, lines)])


def kata_line(context: ReportContext, lines: Sequence[Info[Any]]) -> str:
    """Return a kata-analyze line, in which rates are numbers from 0 to 1."""
    moves = [
        f"info move {context.text(line.pv[0])} visits {line.visits}"
        f" utility {line.expected_outcome or 0.0:z.6f}"
        f" winrate {winrate(line):.6f}{_score(line.lead)}"
        f" prior {context.prior(line):.6f} lcb {winrate_lower_bound(line):.6f}"
        f" utilityLcb {2 * winrate_lower_bound(line) - 1:z.6f} weight {line.visits} order {order}"
        f" pv {context.pv(line)}{context.extra_fields(line)}"
        for order, line in enumerate(context.reported_lines(lines))
    ]
    return " ".join([*moves, *_root_fields(context, lines)])


def _root_fields(context: ReportContext, lines: Sequence[Info[Any]]) -> Iterator[str]:
    if context.request.root:
        root = RootInfo.from_lines(lines)
        yield (
            f"rootInfo visits {root.visits} utility {2 * root.winrate - 1:z.6f}"
            f" winrate {root.winrate:.6f}{_score(root.lead)}"
        )
    if context.request.ownership and (owners := lines[0].ownership) is not None:
        yield f"ownership {_ownership_text(owners)}"


def cgos_line(context: ReportContext, lines: Sequence[Info[Any]]) -> str:
    """Return a cgos-analyze line, which is a JSON object."""
    root = RootInfo.from_lines(lines)
    fields: dict[str, Any] = {"winrate": round(root.winrate, 6)}
    if root.lead is not None:
        fields["score"] = round(root.lead, 3) + 0.0
    fields |= {
        "visits": root.visits,
        "moves": [_cgos_move(context, line) for line in context.reported_lines(lines)],
    }
    if (owners := lines[0].ownership) is not None:
        fields["ownership"] = "".join(_cgos_ownership_digit(owner) for owner in owners)
    return json.dumps(fields, separators=(",", ":"))


def _cgos_move(context: ReportContext, line: Info[Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "move": context.text(line.pv[0]),
        "visits": line.visits,
        "winrate": round(winrate(line), 6),
    }
    if line.lead is not None:
        fields["score"] = round(line.lead, 3) + 0.0
    return fields | {"prior": round(context.prior(line), 6), "pv": context.pv(line, 1)}


def _ownership_text(owners: Sequence[float]) -> str:
    return " ".join(f"{owner:z.6f}" for owner in owners)


def _cgos_ownership_digit(owner: float) -> str:
    last = len(CGOS_OWNERSHIP_DIGITS) - 1
    return CGOS_OWNERSHIP_DIGITS[round(max(0.0, min(1.0, (owner + 1) / 2)) * last)]


def _score(lead: float | None) -> str:
    if lead is None:
        return ""
    return f" scoreMean {lead:z.3f} scoreLead {lead:z.3f} scoreSelfplay {lead:z.3f}"


@dataclass(frozen=True, slots=True)
class RootInfo:
    """The evaluation of a position, averaged over its variations weighted by visits."""

    visits: int
    winrate: float
    lead: float | None

    @classmethod
    def from_lines(cls, lines: Sequence[Info[Any]]) -> RootInfo:
        """Return the average over variations, at least one of which must have visits."""
        visits = _visits(lines)
        leads = [(line.lead, line.visits) for line in lines if line.lead is not None]
        weight = sum(count for _, count in leads)
        return cls(
            visits,
            sum(winrate(line) * line.visits for line in lines) / visits,
            sum(lead * count for lead, count in leads) / weight if weight else lines[0].lead,
        )


def winrate(line: Info[Any]) -> float:
    """Return the win rate of the side to move, from 0 to 1."""
    return ((line.expected_outcome or 0.0) + 1) / 2


def winrate_lower_bound(line: Info[Any]) -> float:
    """Return the lower 95 % confidence bound of the win rate, or 0 if there are no visits."""
    return max(0.0, lower_confidence_bound(winrate(line), line.visits)) if line.visits else 0.0
