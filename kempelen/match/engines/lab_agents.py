"""Run lab agents, which play any game with any search algorithm, as GTP processes.

A separate process keeps the runner responsive, and can be killed if user code hangs.
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
from agent.io.strict_json import quote_value
from agent.kernel.backend import DEFAULT_SEARCH_CONFIG, SearchConfig
from agent.search.defaults import make_search
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import GO, GameSettings, new_game
from protocols.gtp.session import Settings as GtpSettings

LAB_OPTIONS = {"evaluation", "memory", "seed", "threads"}
# Name of the compiled search of a game, which is not an algorithm of agent.search.
COMPILED = "compiled"


def lab_agent_settings(settings: EngineSettings, game: GameSettings) -> EngineSettings:
    """Return the settings of a GTP program that runs the agent. Search limits are sent over GTP."""
    session = GtpSettings(
        game=game.name,
        options=_start_options(game),
        algorithm=None if settings.command == COMPILED else settings.command,
        evaluation=_evaluation(settings),
        book=False,  # compare algorithms, not books
        search_config=SearchConfig(
            threads=_int_option(settings, "threads") or DEFAULT_SEARCH_CONFIG.threads,
            megabytes=_int_option(settings, "memory") or DEFAULT_SEARCH_CONFIG.megabytes,
            seed=_int_option(settings, "seed"),
        ),
        resigns=False,  # play every game to its end
    )
    return _program(settings, session)


def own_gtp_settings(name: str, game: GameSettings) -> EngineSettings:
    """Return the settings of Kempelen's GTP engine with the default opening book and options."""
    settings = EngineSettings("", name, protocol=EngineProtocol.GTP)
    return _program(settings, GtpSettings(game=game.name, options=_start_options(game)))


def _start_options(game: GameSettings) -> Mapping[str, Any]:
    """Return the game options for the command line. Options for Go are sent over GTP instead."""
    return {} if game.name == GO else game.options


def _program(settings: EngineSettings, session: GtpSettings) -> EngineSettings:
    arguments = ("-m", protocols.gtp.__name__, json.dumps(dataclasses.asdict(session)))
    return dataclasses.replace(settings, command=sys.executable, arguments=arguments)


def check_lab_agent(settings: EngineSettings, game: GameSettings) -> None:
    """Raise SettingsError if the algorithm or an option is invalid for the game."""
    if unknown := ", ".join(settings.options.keys() - LAB_OPTIONS):
        known = ", ".join(sorted(LAB_OPTIONS))
        raise SettingsError(
            f"engine {settings.name}: {unknown}: unknown option (expected one of: {known})"
        )
    _int_option(settings, "seed")
    for name in ("threads", "memory"):
        value = _int_option(settings, name)
        if value is not None and (value < 1 or settings.command != COMPILED):
            problem = (
                f"must be at least 1 (got {value})"
                if value < 1
                else f"requires algorithm={COMPILED}"
            )
            raise SettingsError(f"engine {settings.name}: {name}: {problem}")
    try:
        start = new_game(game)
        if settings.command == COMPILED:
            load(_evaluation(settings))
            if not has_compiled_search(catalogue.find(game.name), start):
                raise ValueError(f"game {game}: no compiled search available")
            return
        evaluate = load_game_evaluation(catalogue.find(game.name), _evaluation(settings))
        make_search(settings.command, start, evaluate)
        if start.turn != CHANCE:
            evaluate(start)  # fail early: agents keep playing if their evaluation raises
    except (ValueError, EvaluationError) as error:
        raise SettingsError(f"engine {settings.name}: {error}") from None


def _evaluation(settings: EngineSettings) -> str:
    return str(settings.options.get("evaluation", HANDCRAFTED.name))


def _int_option(settings: EngineSettings, name: str) -> int | None:
    value = settings.options.get(name)
    try:
        return None if value is None else int(str(value))
    except ValueError:
        raise SettingsError(
            f"engine {settings.name}: {name}: must be an integer (got {quote_value(value)})"
        ) from None
