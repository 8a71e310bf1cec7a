"""Backgammon, without the doubling cube; or a part of it, such as a race or the men's bearing off.

Source: the rules as K. Woolsey and others print them; what men and dice are worth to programs,
G. Tesauro, 'Temporal difference learning and TD-Gammon' (1995).
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from agent.game import CHANCE

OFF, BAR, HOME = 0, 25, 6
# Men by point, as whoever owns them counts: they go from 24 to 1, come in from 25, the bar, and
# leave to 0. What is point p to one player is 25 - p to the other.
Men = tuple[int, ...]
STARTS = {"start": "24x2+13x5+8x3+6x5", "race": "8x3+7x3+6x3+5x3+4x3"}
MAX_MEN = 15
_MEN = re.compile(r"(bar|\d{1,2})(?:x(\d{1,2}))?")


class Roll(NamedTuple):
    """An event: what both dice show, the higher first."""

    high: int
    low: int


class ManStep(NamedTuple):
    """One man's way by one die: from a point or the bar, to a point or off the board."""

    start: int
    end: int


Play = tuple[ManStep, ...]  # of a whole roll
BackgammonMove = Roll | Play

ROLLS = tuple(Roll(high, low) for high in range(1, 7) for low in range(1, high + 1))


class State(NamedTuple):
    """Both players' men, who plays or rolls, and what was rolled, unless that is to come."""

    men: tuple[Men, Men]
    player: int
    roll: Roll | None


class Backgammon:
    """A position of backgammon and its history; who first has no man left on the board wins.

    state: "start", where the first roll is no double, since the higher die decided who begins;
    "race", men past each other; or the men of both players, as "6+1x2/2x3": one on the player's
    point 6, two on 1, and three of the other's on his point 2. The first player is to roll.
    """

    def __init__(self, state: str = "start") -> None:
        first, slash, second = STARTS.get(state, state).partition("/")
        own = _parse_men(first)
        self._opening = state == "start"
        self._states = [State((own, _parse_men(second) if slash else own), 0, None)]
        one, other = self._states[0].men
        if any(one[point] and other[BAR - point] for point in range(1, BAR)):
            raise ValueError(f"{state}: both players have men on one point")

    @property
    def state(self) -> State:
        """The position."""
        return self._states[-1]

    @property
    def turn(self) -> int:
        """The player to play a roll, or CHANCE before it."""
        state = self.state
        rolls = state.roll is None and self.outcome() is None
        return CHANCE if rolls else state.player

    def moves(self) -> list[BackgammonMove]:
        """Return all rolls, or the plays of one: one for each position that they lead to."""
        if self.outcome() is not None:
            return []
        men, player, roll = self.state
        if roll is None:
            return [event for event, _ in self.chance_outcomes()]
        return list(plays(men[player], men[1 - player], roll))

    def chance_outcomes(self) -> list[tuple[BackgammonMove, float]]:
        """Return the rolls of two dice; of an opening those that are no double."""
        rolls = [(roll, 1 + (roll.high != roll.low)) for roll in ROLLS]
        chosen = [(roll, ways) for roll, ways in rolls if ways > 1 or not self._is_opening_roll]
        total = sum(ways for _, ways in chosen)
        return [(roll, ways / total) for roll, ways in chosen]

    def play(self, move: BackgammonMove) -> None:
        """Roll, or play what was rolled."""
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
        """Take the last play or roll back."""
        self._states.pop()

    def outcome(self) -> float | None:
        """Return 1 or -1 once a player has no man left."""
        first, second = self.state.men
        if not any(first[1:]):
            return 1
        return None if any(second[1:]) else -1

    def key(self) -> Hashable:
        """Return the position, and whether it is for the roll that opens a game."""
        return self.state, self._is_opening_roll

    @property
    def _is_opening_roll(self) -> bool:
        return self._opening and len(self._states) == 1

    def text(self, move: BackgammonMove) -> str:
        """Write a roll as its dice, such as 31, and a play by its steps, such as 8/5,6/5*."""
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
        """Draw the board as the first player sees it: his men O, the other's X."""
        (first, second), player, roll = self.state
        cells = {point: _cell(first[point], second[BAR - point]) for point in range(1, BAR)}
        rows = []
        for points in (range(13, 25), range(12, 0, -1)):
            numbers = [f"{point:>3}" for point in points]
            rows += [_halves(numbers), _halves([cells[point] for point in points])]
        who = "OX"[player]
        doing = "to roll" if roll is None else f"to play {roll.high}{roll.low}"
        rows.append(f"bar: {first[BAR]} O, {second[BAR]} X; {who} {doing}")
        return "\n".join(rows)


def plays(own: Men, other: Men, roll: Roll) -> Iterator[Play]:
    """Generate the plays of a roll: one for each position, with as many dice as can be.

    Where one die alone can be played, it is the higher if that can be.
    """
    found: dict[tuple[Men, Men], Play] = {}
    dice = (roll.high, roll.low)
    if roll.high == roll.low:
        _extend(own, other, dice * 2, (), found)
    else:
        _extend(own, other, dice, (), found)
        _extend(own, other, dice[::-1], (), found)
    most = max(map(len, found.values()))
    longest = [play for play in found.values() if len(play) == most]
    if most == 1 and roll.high != roll.low:
        longest = [play for play in longest if _is_allowed_by(play[0], roll.high, own)] or longest
    yield from longest


def _extend(
    own: Men, other: Men, dice: tuple[int, ...], play: Play, found: dict[tuple[Men, Men], Play]
) -> None:
    """Add what can be played of the dice, in their order, to the plays that were found.

    By dice that are alike the men go in the order of their points, which leaves no position out.
    """
    stuck = True
    for step in _steps(own, other, dice[0]) if dice else ():
        stuck = False
        alike = play and play[-1].start - play[-1].end == dice[0]
        if not alike or step.start <= play[-1].start:
            _extend(*_after_step(own, other, step), dice[1:], (*play, step), found)
    if stuck:
        known = found.get((own, other))
        if known is None or len(known) < len(play):
            found[own, other] = play


def _steps(own: Men, other: Men, die: int) -> Iterator[ManStep]:
    """Generate what a die allows: men on the bar first, none to where the other has two."""
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
    """Tell whether a die allows a step, of which it is known that one of the dice does."""
    way = step.start - step.end
    return way == die or (step.end == OFF and way < die and not any(own[step.start + 1 :]))


def _after_step(own: Men, other: Men, step: ManStep) -> tuple[Men, Men]:
    """Return both players' men after a step of the first; a single man that it meets is hit."""
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
    """Return the mover's lead, from -1 to 1: in the race, in points held, in men that are safe."""
    men, player, _ = game.state
    lead = _value(men[player], men[1 - player]) - _value(men[1 - player], men[player])
    return lead / (1 + abs(lead))


def _value(own: Men, other: Men) -> float:
    """Return what a player's men are worth: 1 for a hundred pips that are gone already."""
    pips = sum(point * men for point, men in enumerate(own))
    rearmost = BAR - max((point for point in range(BAR + 1) if other[point]), default=0)
    exposed = sum(own[point] == 1 for point in range(max(rearmost, 1), BAR))
    held = sum(own[point] > 1 for point in range(1, HOME + 2))
    return -pips / 100 - exposed / 20 + (held / 20 if rearmost < HOME + 2 else 0)


def _parse_men(text: str) -> Men:
    """Read the men of a player: POINT or POINTxCOUNT, with + between; "bar" is a point."""
    men = [0] * (BAR + 1)
    for part in filter(None, text.split("+")):
        found = _MEN.fullmatch(part)
        point = int(found[1].replace("bar", str(BAR))) if found else 0
        if not (found and 1 <= point <= BAR):
            raise ValueError(f"{part!r} is no men: write POINTxCOUNT, points from 1 to 24, or bar")
        men[point] += int(found[2] or 1)
    if not 1 <= sum(men) <= MAX_MEN:
        raise ValueError(f"{text!r}: a player has 1 to {MAX_MEN} men")
    return tuple(men)


def _halves(row: list[str]) -> str:
    return " ".join(row[:6]) + " | " + " ".join(row[6:])


def _cell(own: int, other: int) -> str:
    """Draw the men on a point."""
    if own:
        return f"{own:>2}O"
    return f"{other:>2}X" if other else "  ."


GAME = Backgammon
