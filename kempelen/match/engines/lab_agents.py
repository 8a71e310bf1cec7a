"""Agents of the lab, any algorithm for any game: each a GTP engine of ours in its own process.

So one thinks beside the runner and other agents, and a user's code that hangs can be ended.
"""

import dataclasses
import json
import sys
from collections.abc import Mapping
from typing import Any

import protocols.gtp
from agent.backends import has_compiled_search
from agent.evaluation import HANDCRAFTED, EvaluationError, load
from agent.evaluation_loading import load_game_evaluation
from agent.game import CHANCE
from agent.games import catalogue
from agent.kernel.backend import DEFAULT_SEARCH_CONFIG, SearchConfig
from agent.search.defaults import make_search
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import GO, GameSettings, new_game
from protocols.gtp.session import Settings as GtpSettings

LAB_OPTIONS = {"evaluation", "memory", "seed", "threads"}
# The algorithm that is none of agent.search: the game's compiled search.
COMPILED = "compiled"


def lab_agent_settings(settings: EngineSettings, game: GameSettings) -> EngineSettings:
    """Return an agent as a program; what it may spend it is told over GTP."""
    session = GtpSettings(
        game=game.name,
        options=_start_options(game),
        algorithm=None if settings.command == COMPILED else settings.command,
        evaluation=_evaluation(settings),
        book=False,  # it is the algorithm that plays, not what others know
        search_config=SearchConfig(
            threads=_int_option(settings, "threads") or DEFAULT_SEARCH_CONFIG.threads,
            megabytes=_int_option(settings, "memory") or DEFAULT_SEARCH_CONFIG.megabytes,
            seed=_int_option(settings, "seed"),
        ),
        resigns=False,  # its games are compared as it plays them, to their ends
    )
    return _program(settings, session)


def own_gtp_settings(name: str, game: GameSettings) -> EngineSettings:
    """Return our own GTP engine for a game, with all that it knows."""
    settings = EngineSettings("", name, protocol=EngineProtocol.GTP)
    return _program(settings, GtpSettings(game=game.name, options=_start_options(game)))


def _start_options(game: GameSettings) -> Mapping[str, Any]:
    """Return the options that a program is started with: GTP has commands for those of Go."""
    return {} if game.name == GO else game.options


def _program(settings: EngineSettings, session: GtpSettings) -> EngineSettings:
    arguments = ("-m", protocols.gtp.__name__, json.dumps(dataclasses.asdict(session)))
    return dataclasses.replace(settings, command=sys.executable, arguments=arguments)


def check_lab_agent(settings: EngineSettings, game: GameSettings) -> None:
    """Raise SettingsError if there is no such agent, or it cannot play the game."""
    if unknown := ", ".join(settings.options.keys() - LAB_OPTIONS):
        known = ", ".join(sorted(LAB_OPTIONS))
        raise SettingsError(f"engine {settings.name}: no option {unknown}; there are {known}")
    _int_option(settings, "seed")
    for name in ("threads", "memory"):
        number = _int_option(settings, name)
        if number is not None and (number < 1 or settings.command != COMPILED):
            wrong = f"{number} is too few" if number < 1 else f"is of algorithm={COMPILED} only"
            raise SettingsError(f"engine {settings.name}: {name}: {wrong}")
    try:
        start = new_game(game)
        if settings.command == COMPILED:
            load(_evaluation(settings))
            if not has_compiled_search(catalogue.find(game.name), start):
                raise ValueError(f"there is no compiled search for {game}")
            return
        evaluate = load_game_evaluation(catalogue.find(game.name), _evaluation(settings))
        make_search(settings.command, start, evaluate)
        if start.turn != CHANCE:
            evaluate(start)  # once, since an agent whose evaluation fails plays on all the same
    except (ValueError, EvaluationError) as error:
        raise SettingsError(f"engine {settings.name}: {error}") from None


def _evaluation(settings: EngineSettings) -> str:
    return str(settings.options.get("evaluation", HANDCRAFTED.name))


def _int_option(settings: EngineSettings, name: str) -> int | None:
    """Return an option that is a whole number, if it is given.

    From the seed follows all that is random in an agent.
    """
    given = settings.options.get(name)
    try:
        return None if given is None else int(str(given))
    except ValueError:
        raise SettingsError(
            f"engine {settings.name}: {name}: a whole number is expected, not {given!r}"
        ) from None
