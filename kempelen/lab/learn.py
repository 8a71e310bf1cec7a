"""`kempelen lab learn`: learn a game from recorded games, and from self-play."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.evaluation import HANDCRAFTED
from agent.io.files import read_bytes
from agent.io.message import Message
from agent.io.read_report import ReadReport
from kempelen import __version__
from kempelen.console import game_arguments, pictures
from kempelen.console.argument_types import integer, positive_int
from kempelen.console.terminal import print_error
from kempelen.console.translation import error_message
from kempelen.lab import language

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from agent.games.policy_value_net import PolicyValueNet
    from kempelen.training.game_trainer import GameTrainer, GameTrainingSettings
    from kempelen.training.selfplay_batch import TrainingExample

NETWORK, WEIGHTS = "network", "weights"
STEPS = {NETWORK: 100, WEIGHTS: 30}
# Default number of self-play games per step.
GAMES = 64


def configure(parser: ArgumentParser) -> None:
    game_arguments.configure(parser)
    parser.add_argument(
        "--what", choices=(NETWORK, WEIGHTS), default=NETWORK,
        help="train a policy-value network (for alphazero) or feature weights (for any algorithm) "
        "(default: network)",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE",
        help="output file; FILE.run next to it is the checkpoint to resume from "
        "(default: GAME.learned)",
    )  # fmt: skip
    parser.add_argument(
        "--steps", type=positive_int, metavar="N",
        help="number of self-play and training steps (default: 100, for weights 30)",
    )  # fmt: skip
    parser.add_argument(
        "--games", type=_parse_games, action="append", default=[], metavar="N|FILE",
        help="self-play games per step (default: 64), or a file of recorded games to learn from "
        "first: PGN, SGF or text; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--match", type=positive_int, default=20, metavar="N",
        help="games after each stage against the network before it, if recorded games are learned "
        "(default: 20)",
    )  # fmt: skip
    parser.add_argument(
        "--playouts", type=positive_int, default=64, metavar="N",
        help="playouts per training move (default: 64)",
    )  # fmt: skip
    parser.add_argument(
        "--neurons", type=_parse_layers, default=(256, 128), metavar="N[,N...]",
        help="neurons per hidden layer (default: 256,128)",
    )  # fmt: skip
    parser.add_argument(
        "--plot", type=Path, metavar="FILE",
        help=Message("plot the losses to FILE (suffix: {})", ", ".join(pictures.SUFFIXES)),
    )  # fmt: skip
    parser.add_argument("--seed", type=integer, default=0, help="random seed (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Train a network or feature weights, and save the result after each step."""
    from agent.games import catalogue, policy_value_net
    from kempelen.training.game_trainer import GameTrainer
    from kempelen.training.recorded_games import read_examples

    if arguments.plot is not None:
        pictures.check_picture(arguments.plot)
    settings = _settings(arguments)
    path = arguments.output or Path(f"{settings.game}.learned")
    if not path.absolute().parent.is_dir():
        raise ValueError(Message("{}: folder {} does not exist", path, path.parent))
    if path.exists() and path.stat().st_size:
        previous = policy_value_net.read(path)
        if previous.game != settings.game:
            raise ValueError(
                Message("{}: was trained on {} (use another file with -o)", path, previous.game)
            )
    translate = language.translator(arguments.lang)
    trainer = GameTrainer(settings)
    untrained = trainer.network({})
    recorded: list[list[TrainingExample]] = []
    for file in _files(arguments):
        reading = ReadReport()
        recorded += read_examples(
            file, catalogue.find(settings.game), settings.options, trainer.encoding, reading,
            with_moves=bool(settings.neurons),
        )  # fmt: skip
        if reading.skipped:
            text = error_message(ValueError(reading.message()), arguments.lang)
            print_error(f"{file}: {text}", "kempelen lab")
    history: list[dict[str, float]] = []
    stage_file = path.with_name(path.name + ".games")
    with _progress(settings, translate) as report:
        for history in trainer.run(path.with_name(path.name + ".run"), report, recorded):
            if history:
                trainer.network(_file_header(settings, history)).write(path)
                report(len(history), settings.games)
            elif recorded:
                trainer.network(_file_header(settings, history)).write(stage_file)
    stages = _stages(arguments, trainer, settings, untrained, stage_file) if recorded else {}
    if arguments.plot is not None:
        pictures.save(loss_figure(history, translate), arguments.plot)
    seconds = sum(step["seconds"] for step in history)
    if arguments.json:
        print(
            json.dumps(
                {"file": str(path), **_file_header(settings, history), "history": history, **stages}
            )
        )
        return 0
    last = history[-1]
    print(
        f"{path}: {language.counted(len(history), 'step', 'steps', translate)}, "
        f"{seconds:.0f} {translate('seconds of CPU time')}"
    )
    losses = (f"{translate(name)} {last[name]:.3f}" for name in _losses(history))
    print(", ".join(losses))
    if stages:
        _print_stages(stages, translate)
    return 0


def _stages(
    arguments: Namespace,
    trainer: GameTrainer,
    settings: GameTrainingSettings,
    untrained: PolicyValueNet,
    stage_file: Path,
) -> dict[str, Any]:
    """Return what each stage of learning was worth: losses on held-out games, and matches."""
    from agent.games import catalogue, policy_value_net
    from kempelen.training.network_match import play_match

    assert trainer.recorded_stage is not None
    stages: dict[str, Any] = {"recorded": asdict(trainer.recorded_stage)}
    if not stage_file.exists():  # removed since an interruption
        return stages
    after_games, final = policy_value_net.read(stage_file), trainer.network({})
    # Quick searches show more of the networks.
    playouts = max(settings.play.playouts // 4, 2)
    points = [
        play_match(
            catalogue.find(settings.game), settings.options, networks,
            games=arguments.match, playouts=playouts, seed=settings.seed,
        )
        for networks in ((after_games, untrained), (final, after_games))
    ]  # fmt: skip
    stages["matches"] = {
        "games": arguments.match,
        "recorded against untrained": points[0],
        "self-play against recorded": points[1],
    }
    return stages


def _print_stages(stages: dict[str, Any], translate: language.Translator) -> None:
    recorded, matches = stages["recorded"], stages.get("matches")
    text = translate("recorded games: {} ({} held out), {} positions learned")
    print(text.format(recorded["games"], recorded["held_out"], recorded["positions"]))
    for name, before, after in zip(
        ("value loss", "move loss"), recorded["before"], recorded["after"], strict=False
    ):
        if before:
            print(f"  {translate(name)} {before:.3f} → {after:.3f}")
    if recorded["before"][1]:
        shares = [f"{100 * each[2]:.0f}%" for each in (recorded["before"], recorded["after"])]
        print(f"  {translate('moves predicted')} {' → '.join(shares)}")
    for text, name in (
        ("recorded games against the untrained network: {} / {}", "recorded against untrained"),
        ("self-play against the recorded games alone: {} / {}", "self-play against recorded"),
    ):
        if matches is not None:
            print(translate(text).format(f"{matches[name]:g}", matches["games"]))


def _files(arguments: Namespace) -> list[Path]:
    return [each for each in arguments.games if isinstance(each, Path)]


def _digest(files: list[Path]) -> str:
    """Return a hash of the contents of the files, or "" if there are none."""
    if not files:
        return ""
    digest = sha256()
    for file in files:
        digest.update(sha256(read_bytes(file)).digest())
    return digest.hexdigest()[:16]


def _parse_games(text: str) -> int | Path:
    """Parse a number of games, or the name of a file."""
    return positive_int(text) if text.lstrip("-").isdecimal() else Path(text)


def loss_figure(history: list[dict[str, float]], translate: language.Translator) -> Figure:
    from matplotlib.figure import Figure

    names = _losses(history)
    figure = Figure(figsize=(7, 3 * len(names)))
    for number, name in enumerate(names, 1):
        axes = figure.add_subplot(len(names), 1, number)
        axes.plot(range(1, len(history) + 1), [step[name] for step in history], color="C0")
        axes.set_xlabel(translate("step"))
        axes.set_ylabel(translate(name))
        axes.grid(alpha=0.3)
    figure.tight_layout()
    return figure


def _losses(history: list[dict[str, float]]) -> list[str]:
    return ["value loss", *(["move loss"] if any(each["move loss"] for each in history) else [])]


def _settings(arguments: Namespace) -> GameTrainingSettings:
    from kempelen.training.game_trainer import GameTrainingSettings
    from kempelen.training.selfplay_batch import SelfPlaySettings

    if arguments.evaluation != HANDCRAFTED.name:
        raise ValueError("--evaluation: not allowed (lab learn creates an evaluation)")
    kind, options = game_arguments.game_from(arguments, {"seed": arguments.seed})
    is_network = arguments.what == NETWORK
    return GameTrainingSettings(
        game=kind.name,
        options=options,
        steps=arguments.steps or STEPS[arguments.what],
        games=([each for each in arguments.games if isinstance(each, int)] or [GAMES])[-1],
        recorded=_digest(_files(arguments)),
        neurons=arguments.neurons if is_network else (),
        seed=arguments.seed,
        play=SelfPlaySettings(playouts=arguments.playouts),
    )


def _file_header(settings: GameTrainingSettings, history: list[dict[str, float]]) -> dict[str, Any]:
    """Return the manifest of the network file, without timestamps, so that it is reproducible."""
    return {
        "made by": f"Kempelen {__version__}",
        "licence": "GPL-3.0-or-later",
        "source": "Recorded games, then games of what was learned against itself."
        if settings.recorded
        else "Games of what was learned against itself, from nothing.",
        "settings": settings.determining_settings(),
        "history": [
            {name: value for name, value in step.items() if name != "seconds"} for step in history
        ],
    }


@contextlib.contextmanager
def _progress(
    settings: GameTrainingSettings, translate: language.Translator
) -> Iterator[Callable[[int, int], None]]:
    if not sys.stderr.isatty():
        yield lambda step, left: None
        return
    started = time.monotonic()

    def report(step: int, left: int) -> None:
        games = settings.games - left
        current = min(step + 1, settings.steps)
        text = (
            f"{translate('step')} {current}/{settings.steps}: "
            f"{games}/{settings.games} {translate('games')}"
        )
        print(f"\r{text}, {time.monotonic() - started:.0f} s ", end="", file=sys.stderr, flush=True)

    try:
        yield report
    finally:
        print("\r" + " " * 70 + "\r", end="", file=sys.stderr, flush=True)


def _parse_layers(text: str) -> tuple[int, ...]:
    return tuple(positive_int(each) for each in text.split(","))
