"""`kempelen lab play`: games between algorithms, and what they learn from surprises.

A killer memory (`alpha-beta+killer_memory=FILE`) is told with each move that it has learned from:
what the move was thought to be worth, and what playing on has shown. The next game goes by that.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass, field
from typing import Any

from agent.game import Game
from agent.learning.learned_move import LearnedMove
from agent.learning.position_learning_searcher import PositionLearningSearcher
from agent.limits import Info, Limits
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.searcher import GameSearcher
from kempelen.console.argument_types import positive_int
from kempelen.lab import algorithm_arguments, language, problems
from kempelen.lab.language import format_value
from kempelen.lab.output import print_plain, table
from kempelen.lab.problems import SearchProblem

MAX_MOVES = 1000  # moves


@dataclass(frozen=True)
class PlayedMove:
    """A move, what it was thought to be worth, and what its player has just learned.

    known: how many lessons of the position the player had.
    """

    player: int
    move: str
    value: float
    known: int
    lessons: list[LearnedMove]


@dataclass
class PlayedGame:
    """A game; outcome: the first player's, None if it was too long. after: learned at its end."""

    moves: list[PlayedMove] = field(default_factory=list)
    outcome: float | None = None
    after: list[LearnedMove] = field(default_factory=list)


class LabPlayer:
    """A player of the lab: an algorithm, which learns if it has a killer memory."""

    def __init__(
        self, algorithm: AlgorithmSpec, problem: SearchProblem, arguments: Namespace
    ) -> None:
        search = problem.search(algorithm, seed=arguments.seed)
        self._searcher = GameSearcher(search)
        self._limits: Limits[Any] = Limits(depth=problem.depth, nodes=arguments.nodes)
        self._memory = search.killer_memory

    def new_game(self) -> None:
        """Forget the last game but for good."""
        self._searcher.new_game()
        if self._memory is not None:
            self._memory.experience.new_game()

    def play_move(self, game: Any, player: int) -> PlayedMove:
        """Find a move and make it."""
        memory, known = self._memory, 0
        if memory is None:
            infos = self._searcher.search(game, self._limits)
        else:
            known = len(memory.experience.lookup(game))
            infos = PositionLearningSearcher(self._searcher, memory.experience).search(
                game, self._limits
            )
        best: Info[Any] | None = None
        for info in infos:
            best = info
        assert best is not None
        value = best.score.value / 100 if best.expected_outcome is None else best.expected_outcome  # type: ignore[union-attr]
        text = game.text(best.pv[0])
        game.play(best.pv[0])
        return PlayedMove(player, text, value, known, self._take_surprises())

    def end_game(self, game: Game[Any], outcome: float) -> list[LearnedMove]:
        """Learn how a game has ended, and keep what was learned; return that."""
        if self._memory is None:
            return []
        first = max(-1.0, min(1.0, outcome))
        self._memory.experience.record_result(lambda game: -first if game.turn else first)
        self._memory.experience.flush()
        return self._take_surprises()

    def close(self) -> None:
        """Write what is still to be written."""
        self._searcher.save()

    def _take_surprises(self) -> list[LearnedMove]:
        return [] if self._memory is None else self._memory.experience.pop_surprises()


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    problems.configure(parser)
    parser.add_argument(
        "--algorithm", default="alpha-beta", metavar="A[,B]",
        help="who plays, one for both sides or two that change sides (default: alpha-beta)",
    )  # fmt: skip
    parser.add_argument(
        "--games", type=positive_int, default=1, metavar="N", help="so many games (default: 1)"
    )
    parser.add_argument(
        "--nodes", type=positive_int, metavar="N", help="the most nodes of a search"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object a game")


def run(arguments: Namespace) -> int:
    """Play, and print each game as it ends."""
    problem = problems.problem_from(arguments)
    if problem.is_chance:
        raise ValueError(
            f"{problem.name} is a game of chance: nothing is learned from its outcomes"
        )
    chosen = algorithm_arguments.parse_algorithms(arguments.algorithm, problem)
    if len(chosen) > 2:
        raise ValueError(f"{len(chosen)} algorithms cannot play one game; name one or two")
    pupils = [LabPlayer(each, problem, arguments) for each in (chosen * 2)[:2]]
    translate = language.translator(arguments.lang)
    points = 0.0
    for number_of_game in range(1, arguments.games + 1):
        sides = pupils if number_of_game % 2 else pupils[::-1]
        game = problems.problem_from(arguments).game
        played = play_game(game, sides)
        outcome = played.outcome or 0.0
        win = (outcome > 0) - (outcome < 0)
        points += 0.5 + (win if sides is pupils else -win) / 2
        if arguments.json:
            print(json.dumps(language.json_value({"game": number_of_game, **asdict(played)})))
            continue
        _print(played, number_of_game, translate)
    if not arguments.json and len(chosen) == 2:
        print(f"{chosen[0].text}: {points:g} / {arguments.games} {translate('points')}")
    for pupil in pupils:
        pupil.close()
    return 0


def play_game(game: Any, sides: list[LabPlayer]) -> PlayedGame:
    """Play a game to its end, or to LONGEST moves."""
    played = PlayedGame()
    for pupil in sides:
        pupil.new_game()
    while game.outcome() is None and len(played.moves) < MAX_MOVES:
        turn = game.turn
        played.moves.append(sides[turn].play(game, turn))
    played.outcome = game.outcome()
    if played.outcome is not None:
        for pupil in dict.fromkeys(sides):
            played.after += pupil.end_game(game, played.outcome)
    return played


def _print(played: PlayedGame, number_of_game: int, translate: language.Translator) -> None:
    shown = table(
        f"{translate('game')} {number_of_game}",
        "",
        translate("move"),
        translate("value"),
        translate("learned"),
    )
    for place, each in enumerate(played.moves, 1):
        told = "; ".join(_format_lesson(lesson, translate) for lesson in each.lessons)
        if each.known:
            told = f"{translate('known from experience')}{'; ' if told else ''}{told}"
        move = language.translate_move(each.move, translate)
        shown.add_row(str(place), move, format_value(each.value, translate=translate), told)
    print_plain(shown)
    for lesson in played.after:
        print(_format_lesson(lesson, translate))
    if played.outcome is not None:
        print(f"{translate('result')} {format_value(played.outcome, translate=translate)}")


def _format_lesson(lesson: LearnedMove, translate: language.Translator) -> str:
    """Say what was a surprise."""
    move, predicted, found = (
        language.translate_move(lesson.move, translate),
        lesson.predicted,
        lesson.found,
    )
    text = f"{translate('surprise')}: {move} {format_value(predicted, translate=translate)} → {format_value(found, translate=translate)}"
    return f"{text} ({language.translate_move(lesson.reply, translate)})" if lesson.reply else text
