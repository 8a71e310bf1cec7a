"""Backgammon without the doubling cube.

Sources: the standard rules as described by K. Woolsey; for chance nodes and evaluation, G. Tesauro,
'Temporal difference learning and TD-Gammon' (1995).
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from agent.game import CHANCE
from agent.io.message import Message

OFF, BAR, HOME = 0, 25, 6
# Number of men on each point, from the owner's view. Men move from point 24 to 1, enter from the
# bar (25) and bear off to 0. Point p of one player is point 25 - p of the other.
Men = tuple[int, ...]
STARTS = {"start": "24x2+13x5+8x3+6x5", "race": "8x3+7x3+6x3+5x3+4x3"}
MAX_MEN = 15
_MEN = re.compile(r"(bar|\d{1,2})(?:x(\d{1,2}))?")


class Roll(NamedTuple):
    """A dice roll, with the higher die first."""

    high: int
    low: int


class ManStep(NamedTuple):
    """A move of one man with one die, from point `start` (or BAR) to point `end` (or OFF)."""

    start: int
    end: int


Play = tuple[ManStep, ...]  # all steps of one roll
BackgammonMove = Roll | Play

ROLLS = tuple(Roll(high, low) for high in range(1, 7) for low in range(1, high + 1))


class State(NamedTuple):
    """The men of both players, the player to move, and the roll (None before the roll)."""

    men: tuple[Men, Men]
    player: int
    roll: Roll | None


class Backgammon:
    """A backgammon position with its history. The first player to bear off all men wins.

    `state` is "start" (the opening position), "race" (all men have passed each other) or a list of
    the men. In "6+1x2/2x3", player 0 has one man on point 6 and two men on point 1. Player 1 has
    three men on their own point 2. Without a slash, both players have the same men. Raise
    ValueError if `state` is invalid.
    """

    def __init__(self, state: str = "start") -> None:
        first, slash, second = STARTS.get(state, state).partition("/")
        own = _parse_men(first)
        self._opening = state == "start"
        self._states = [State((own, _parse_men(second) if slash else own), 0, None)]
        men, other = self._states[0].men
        if any(men[point] and other[BAR - point] for point in range(1, BAR)):
            raise ValueError(Message("{}: both players have men on the same point", state))

    @property
    def state(self) -> State:
        """The current position."""
        return self._states[-1]

    @property
    def turn(self) -> int:
        """The player to move, or CHANCE before the roll."""
        state = self.state
        rolls = state.roll is None and self.outcome() is None
        return CHANCE if rolls else state.player

    def moves(self) -> list[BackgammonMove]:
        """Return the possible rolls before a roll, otherwise one play per resulting position."""
        if self.outcome() is not None:
            return []
        men, player, roll = self.state
        if roll is None:
            return [event for event, _ in self.chance_outcomes()]
        return list(plays(men[player], men[1 - player], roll))

    def chance_outcomes(self) -> list[tuple[BackgammonMove, float]]:
        """Return the possible rolls and their probabilities. An opening roll is never a double."""
        rolls = [(roll, 1 + (roll.high != roll.low)) for roll in ROLLS]
        possible = [(roll, ways) for roll, ways in rolls if ways > 1 or not self._is_opening_roll]
        total = sum(ways for _, ways in possible)
        return [(roll, ways / total) for roll, ways in possible]

    def play(self, move: BackgammonMove) -> None:
        """Play a move, or set the result of a dice roll."""
        men, player, _ = self.state
        if isinstance(move, Roll):
            self._states.append(State(men, player, move))
            return
        own, other = men[player], men[1 - player]
        for step in move:
            own, other = _after_step(own, other, step)
        both = (own, other) if player == 0 else (other, own)
        self._states.append(State(both, 1 - player, None))

    def undo(self) -> None:
        """Undo the last play or roll."""
        self._states.pop()

    def outcome(self) -> float | None:
        """Return 1 if player 0 won, -1 if player 1 won, None if the game is not over."""
        first, second = self.state.men
        if not any(first[1:]):
            return 1
        return None if any(second[1:]) else -1

    def key(self) -> Hashable:
        """Return the state, and whether an opening roll is next."""
        return self.state, self._is_opening_roll

    @property
    def _is_opening_roll(self) -> bool:
        return self._opening and len(self._states) == 1

    def text(self, move: BackgammonMove) -> str:
        """Return the notation of a roll, such as 31, or of a play, such as 8/5,6/5*."""
        if isinstance(move, Roll):
            return f"{move.high}{move.low}"
        men, player, _ = self.state
        own, other = men[player], men[1 - player]
        steps: Counter[str] = Counter()
        for step in move:
            hits = "*" if step.end and other[BAR - step.end] else ""
            start = "bar" if step.start == BAR else step.start
            steps[f"{start}/{step.end or 'off'}{hits}"] += 1
            own, other = _after_step(own, other, step)
        return ",".join(f"{step}({n})" if n > 1 else step for step, n in steps.items()) or "pass"

    def __str__(self) -> str:
        """Return a board diagram from player 0's side, with O for player 0 and X for player 1."""
        (first, second), player, roll = self.state
        cells = {point: _cell(first[point], second[BAR - point]) for point in range(1, BAR)}
        rows = []
        for points in (range(13, 25), range(12, 0, -1)):
            numbers = [f"{point:>3}" for point in points]
            rows += [_halves(numbers), _halves([cells[point] for point in points])]
        sign = "OX"[player]
        action = "to roll" if roll is None else f"to play {roll.high}{roll.low}"
        rows.append(f"bar: {first[BAR]} O, {second[BAR]} X; {sign} {action}")
        return "\n".join(rows)


def plays(own: Men, other: Men, roll: Roll) -> Iterator[Play]:
    """Generate the legal plays for a roll, one per resulting position.

    A play uses as many dice as possible. If either die can be played but not both, the higher one
    must be played.
    """
    found: dict[tuple[Men, Men], Play] = {}
    dice = (roll.high, roll.low)
    if roll.high == roll.low:
        _extend(own, other, dice * 2, (), found)
    else:
        _extend(own, other, dice, (), found)
        _extend(own, other, dice[::-1], (), found)
    length = max(map(len, found.values()))
    longest = [play for play in found.values() if len(play) == length]
    if length == 1 and roll.high != roll.low:
        longest = [play for play in longest if _is_allowed_by(play[0], roll.high, own)] or longest
    yield from longest


def _extend(
    own: Men, other: Men, dice: tuple[int, ...], play: Play, found: dict[tuple[Men, Men], Play]
) -> None:
    """Add the plays that use `dice` in this order to `found`, keyed by the resulting position."""
    stuck = True
    for step in _steps(own, other, dice[0]) if dice else ():
        stuck = False
        # With a double, men move in descending order of points, to avoid duplicate plays.
        alike = play and play[-1].start - play[-1].end == dice[0]
        if not alike or step.start <= play[-1].start:
            _extend(*_after_step(own, other, step), dice[1:], (*play, step), found)
    if stuck:
        known = found.get((own, other))
        if known is None or len(known) < len(play):
            found[own, other] = play


def _steps(own: Men, other: Men, die: int) -> Iterator[ManStep]:
    highest = next(point for point in range(BAR, -1, -1) if own[point])
    for start in (BAR,) if highest == BAR else range(highest, 0, -1):
        if not own[start]:
            continue
        end = start - die
        if end > 0:
            if other[BAR - end] < 2:
                yield ManStep(start, end)
        elif highest <= HOME and (end == 0 or start == highest):
            yield ManStep(start, OFF)


def _is_allowed_by(step: ManStep, die: int, own: Men) -> bool:
    length = step.start - step.end
    return length == die or (step.end == OFF and length < die and not any(own[step.start + 1 :]))


def _after_step(own: Men, other: Men, step: ManStep) -> tuple[Men, Men]:
    men = list(own)
    men[step.start] -= 1
    men[step.end] += 1
    if step.end and other[BAR - step.end]:
        theirs = list(other)
        theirs[BAR - step.end] -= 1
        theirs[BAR] += 1
        other = tuple(theirs)
    return tuple(men), other


def evaluate(game: Backgammon) -> float:
    """Return the lead of the player to move in pips, made points and blots, from -1 to 1."""
    men, player, _ = game.state
    lead = _value(men[player], men[1 - player]) - _value(men[1 - player], men[player])
    return lead / (1 + abs(lead))


def _value(own: Men, other: Men) -> float:
    pips = sum(point * men for point, men in enumerate(own))
    rearmost = BAR - max((point for point in range(BAR + 1) if other[point]), default=0)
    exposed = sum(own[point] == 1 for point in range(max(rearmost, 1), BAR))
    held = sum(own[point] > 1 for point in range(1, HOME + 2))
    return -pips / 100 - exposed / 20 + (held / 20 if rearmost < HOME + 2 else 0)


def _parse_men(text: str) -> Men:
    """Parse one player's men, such as "bar+8x3+6x5". Raise ValueError if the text is invalid."""
    men = [0] * (BAR + 1)
    for part in filter(None, text.split("+")):
        match = _MEN.fullmatch(part)
        point = int(match[1].replace("bar", str(BAR))) if match else 0
        if not (match and 1 <= point <= BAR):
            raise ValueError(
                Message("invalid men {!r} (expected POINTxCOUNT, POINT 1 to 24 or bar)", part)
            )
        men[point] += int(match[2] or 1)
    if not 1 <= sum(men) <= MAX_MEN:
        raise ValueError(Message("{!r}: a player must have 1 to {} men", text, MAX_MEN))
    return tuple(men)


def _halves(row: list[str]) -> str:
    return " ".join(row[:6]) + " | " + " ".join(row[6:])


def _cell(own: int, other: int) -> str:
    if own:
        return f"{own:>2}O"
    return f"{other:>2}X" if other else "  ."


GAME = Backgammon
