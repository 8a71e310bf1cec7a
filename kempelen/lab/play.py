"""`kempelen lab play`: play games between search algorithms that learn from prediction errors.

An algorithm with the option `killer_memory=FILE` stores moves whose predicted value differs from
the value found later, and uses them in later games.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from agent.game import CHANCE, Game
from agent.games.chance import draw_event
from agent.io.message import Message
from agent.learning.learned_move import LearnedMove
from agent.learning.position_learning_searcher import PositionLearningSearcher
from agent.limits import Info, Limits
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.algorithms.alpha_beta import AlphaBeta
from agent.search.algorithms.expectiminimax import Expectiminimax
from agent.search.searcher import GameSearcher
from kempelen.console.argument_types import positive_int
from kempelen.console.terminal import print_text
from kempelen.lab import algorithm_arguments, language, problems
from kempelen.lab.language import format_value
from kempelen.lab.output import print_plain, table
from kempelen.lab.problems import SearchProblem

MAX_MOVES = 1000


@dataclass(frozen=True)
class PlayedMove:
    """A played move, its predicted value, and the moves learned after it.

    `known` is the number of moves that were already learned in the position. A chance event has no
    player and no value.
    """

    player: int | None
    move: str
    value: float | None = None
    known: int = 0
    lessons: list[LearnedMove] = field(default_factory=list)


@dataclass
class PlayedGame:
    """The moves and the outcome of a game.

    `outcome` is the utility for the first player, or None if the game was stopped after `MAX_MOVES`
    moves. `after` holds the moves learned from the outcome.
    """

    moves: list[PlayedMove] = field(default_factory=list)
    outcome: float | None = None
    after: list[LearnedMove] = field(default_factory=list)


class LabPlayer:
    """A player that searches with one algorithm and may learn from prediction errors."""

    def __init__(
        self, algorithm: AlgorithmSpec, problem: SearchProblem, arguments: Namespace
    ) -> None:
        search = problem.search(algorithm, seed=arguments.seed)
        self._searcher = GameSearcher(search)
        self._limits: Limits[Any] = Limits(depth=problem.depth, nodes=arguments.nodes)
        self._memory = search.killer_memory

    def new_game(self) -> None:
        """Clear the search state of the previous game, but keep the learned moves."""
        self._searcher.new_game()
        if self._memory is not None:
            self._memory.experience.new_game()

    def play_move(self, game: Any, player: int) -> PlayedMove:
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
        """Learn from the outcome, save all learned moves, and return the new ones.

        `outcome` is the utility for the first player.
        """
        if self._memory is None:
            return []
        first = max(-1.0, min(1.0, outcome))
        self._memory.experience.record_result(lambda game: -first if game.turn else first)
        self._memory.experience.flush()
        return self._take_surprises()

    def close(self) -> None:
        """Save the learned moves."""
        self._searcher.save()

    def _take_surprises(self) -> list[LearnedMove]:
        return [] if self._memory is None else self._memory.experience.pop_surprises()


def configure(parser: ArgumentParser) -> None:
    problems.configure(parser)
    parser.add_argument(
        "--algorithm", metavar="A[,B]",
        help="players: one algorithm for both sides, or two that alternate sides "
        "(default: alpha-beta, or expectiminimax in games of chance)",
    )  # fmt: skip
    parser.add_argument(
        "--games", type=positive_int, default=1, metavar="N", help="number of games (default: 1)"
    )
    parser.add_argument("--nodes", type=positive_int, metavar="N", help="node limit per search")
    parser.add_argument("--json", action="store_true", help="print one JSON object per game")


def run(arguments: Namespace) -> int:
    problem = problems.problem_from(arguments)
    default = Expectiminimax.name if problem.is_chance else AlphaBeta.name
    specs = algorithm_arguments.parse_algorithms(arguments.algorithm or default, problem)
    if len(specs) > 2:
        raise ValueError(Message("--algorithm: {} algorithms (expected one or two)", len(specs)))
    players = [LabPlayer(spec, problem, arguments) for spec in (specs * 2)[:2]]
    translate = language.translator(arguments.lang)
    random = Random(arguments.seed)
    if not arguments.json:
        for spec in specs:
            for line in algorithm_arguments.remarks(spec, problem.game, translate):
                print_text(line)
    points = 0.0
    for number in range(1, arguments.games + 1):
        sides = players if number % 2 else players[::-1]
        game = problems.problem_from(arguments).game
        played = play_game(game, sides, random)
        outcome = played.outcome or 0.0
        win = (outcome > 0) - (outcome < 0)
        points += 0.5 + (win if sides is players else -win) / 2
        if arguments.json:
            print(json.dumps(language.json_value({"game": number, **asdict(played)})))
            continue
        _print(played, number, translate)
    if not arguments.json and len(specs) == 2:
        print(f"{specs[0].text}: {points:g} / {arguments.games} {translate('points')}")
    for player in players:
        player.close()
    return 0


def play_game(game: Any, sides: list[LabPlayer], random: Random) -> PlayedGame:
    """Play a game to its end, or stop it after `MAX_MOVES` moves. `random` draws chance events."""
    played = PlayedGame()
    for player in sides:
        player.new_game()
    while game.outcome() is None and len(played.moves) < MAX_MOVES:
        turn = game.turn
        if turn == CHANCE:
            event = draw_event(game, random.random())
            played.moves.append(PlayedMove(None, game.text(event)))
            game.play(event)
        else:
            played.moves.append(sides[turn].play_move(game, turn))
    played.outcome = game.outcome()
    if played.outcome is not None:
        for player in dict.fromkeys(sides):
            played.after += player.end_game(game, played.outcome)
    return played


def _print(played: PlayedGame, number: int, translate: language.Translator) -> None:
    shows_players = any(each.player is None for each in played.moves)
    shown = table(
        translate("game {}").format(number),
        "",
        *([translate("player")] if shows_players else []),
        translate("move"),
        translate("expected result"),
        translate("learned"),
    )
    for ply, played_move in enumerate(played.moves, 1):
        text = "; ".join(_format_lesson(lesson, translate) for lesson in played_move.lessons)
        if played_move.known:
            text = f"{translate('known from experience')}{'; ' if text else ''}{text}"
        player = translate("chance") if played_move.player is None else str(played_move.player + 1)
        move, value = language.translate_move(played_move.move, translate), played_move.value
        shown.add_row(
            *(str(ply), *([player] if shows_players else []), move),
            *("" if value is None else format_value(value, translate=translate), text),
        )
    print_plain(shown)
    for lesson in played.after:
        print_text(_format_lesson(lesson, translate))
    if played.outcome is not None:
        print(f"{translate('result')} {format_value(played.outcome, translate=translate)}")


def _format_lesson(lesson: LearnedMove, translate: language.Translator) -> str:
    move, predicted, found = (
        language.translate_move(lesson.move, translate),
        lesson.predicted,
        lesson.found,
    )
    text = (
        f"{translate('surprise')}: {move} {format_value(predicted, translate=translate)}"
        f" → {format_value(found, translate=translate)}"
    )
    return f"{text} ({language.translate_move(lesson.reply, translate)})" if lesson.reply else text
