"""`kempelen lab play`: games between algorithms, and what they learn from surprises.

A killer memory (`alpha-beta+killer_memory=FILE`) is told with each move that it has learned from:
what the move was thought to be worth, and what playing on has shown. The next game goes by that.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass, field
from typing import Any

from agent.experience.lesson import Lesson
from agent.experience.searcher import WarySearcher
from agent.game import Game
from agent.limits import Info, Limits
from agent.search.configuration import Configuration
from agent.search.searcher import GameSearcher
from kempelen.lab import algorithms, subject, words
from kempelen.lab.output import show, table
from kempelen.lab.subject import Subject
from kempelen.lab.words import number
from kempelen.numbers import positive

LONGEST = 1000  # moves


@dataclass(frozen=True)
class Played:
    """A move, what it was thought to be worth, and what its player has just learned.

    known: how many lessons of the position the player had.
    """

    player: int
    move: str
    value: float
    known: int
    lessons: list[Lesson]


@dataclass
class PlayedGame:
    """A game; outcome: the first player's, None if it was too long. after: learned at its end."""

    moves: list[Played] = field(default_factory=list)
    outcome: float | None = None
    after: list[Lesson] = field(default_factory=list)


class Pupil:
    """A player of the lab: an algorithm, which learns if it has a killer memory."""

    def __init__(self, algorithm: Configuration, at: Subject, arguments: Namespace) -> None:
        search = at.search(algorithm, seed=arguments.seed)
        self._searcher = GameSearcher(search)
        self._limits: Limits[Any] = Limits(depth=at.depth, nodes=arguments.nodes)
        self._memory = search.killer_memory

    def begin(self) -> None:
        """Forget the last game but for good."""
        self._searcher.new_game()
        if self._memory is not None:
            self._memory.experience.new_game()

    def play(self, game: Any, player: int) -> Played:
        """Find a move and make it."""
        memory, known = self._memory, 0
        if memory is None:
            infos = self._searcher.deepen(game, self._limits)
        else:
            known = len(memory.experience.known(game))
            infos = WarySearcher(self._searcher, memory.experience).deepen(game, self._limits)
        best: Info[Any] | None = None
        for info in infos:
            best = info
        assert best is not None
        value = best.score.value / 100 if best.expected is None else best.expected  # type: ignore[union-attr]
        text = game.text(best.pv[0])
        game.play(best.pv[0])
        return Played(player, text, value, known, self._news())

    def end(self, game: Game[Any], outcome: float) -> list[Lesson]:
        """Learn how a game has ended, and keep what was learned; return that."""
        if self._memory is None:
            return []
        first = max(-1.0, min(1.0, outcome))
        self._memory.experience.conclude(lambda game: -first if game.turn else first)
        self._memory.experience.flush()
        return self._news()

    def close(self) -> None:
        """Write what is still to be written."""
        self._searcher.keep()

    def _news(self) -> list[Lesson]:
        return [] if self._memory is None else self._memory.experience.take_surprises()


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    subject.configure(parser)
    parser.add_argument(
        "--algorithm", default="alpha-beta", metavar="A[,B]",
        help="who plays, one for both sides or two that change sides (default: alpha-beta)",
    )  # fmt: skip
    parser.add_argument(
        "--games", type=positive, default=1, metavar="N", help="so many games (default: 1)"
    )
    parser.add_argument("--nodes", type=positive, metavar="N", help="the most nodes of a search")
    parser.add_argument("--json", action="store_true", help="print a JSON object a game")


def run(arguments: Namespace) -> int:
    """Play, and print each game as it ends."""
    at = subject.subject(arguments)
    if at.is_chance:
        raise ValueError(f"{at.name} is a game of chance: nothing is learned from its outcomes")
    chosen = algorithms.read(arguments.algorithm, at)
    if len(chosen) > 2:
        raise ValueError(f"{len(chosen)} algorithms cannot play one game; name one or two")
    pupils = [Pupil(each, at, arguments) for each in (chosen * 2)[:2]]
    say = words.language(arguments.lang)
    points = 0.0
    for number_of_game in range(1, arguments.games + 1):
        sides = pupils if number_of_game % 2 else pupils[::-1]
        game = subject.subject(arguments).game
        played = play(game, sides)
        outcome = played.outcome or 0.0
        win = (outcome > 0) - (outcome < 0)
        points += 0.5 + (win if sides is pupils else -win) / 2
        if arguments.json:
            print(json.dumps(words.as_json({"game": number_of_game, **asdict(played)})))
            continue
        _print(played, number_of_game, say)
    if not arguments.json and len(chosen) == 2:
        print(f"{chosen[0].text}: {points:g} / {arguments.games} {say('points')}")
    for pupil in pupils:
        pupil.close()
    return 0


def play(game: Any, sides: list[Pupil]) -> PlayedGame:
    """Play a game to its end, or to LONGEST moves."""
    played = PlayedGame()
    for pupil in sides:
        pupil.begin()
    while game.outcome() is None and len(played.moves) < LONGEST:
        turn = game.turn
        played.moves.append(sides[turn].play(game, turn))
    played.outcome = game.outcome()
    if played.outcome is not None:
        for pupil in dict.fromkeys(sides):
            played.after += pupil.end(game, played.outcome)
    return played


def _print(played: PlayedGame, number_of_game: int, say: words.Say) -> None:
    shown = table(f"{say('game')} {number_of_game}", "", say("move"), say("value"), say("learned"))
    for place, each in enumerate(played.moves, 1):
        told = "; ".join(_told(lesson, say) for lesson in each.lessons)
        if each.known:
            told = f"{say('known from experience')}{'; ' if told else ''}{told}"
        move = words.move(each.move, say)
        shown.add_row(str(place), move, number(each.value, say=say), told)
    show(shown)
    for lesson in played.after:
        print(_told(lesson, say))
    if played.outcome is not None:
        print(f"{say('result')} {number(played.outcome, say=say)}")


def _told(lesson: Lesson, say: words.Say) -> str:
    """Say what was a surprise."""
    move, predicted, found = words.move(lesson.move, say), lesson.predicted, lesson.found
    text = f"{say('surprise')}: {move} {number(predicted, say=say)} → {number(found, say=say)}"
    return f"{text} ({words.move(lesson.reply, say)})" if lesson.reply else text
