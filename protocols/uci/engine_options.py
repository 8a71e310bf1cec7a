"""The options of the chess engine. UCI has all OPTIONS, and xboard has only COMMON_OPTIONS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.chess.engine.levels import MAX_ELO, MAX_SKILL, MIN_ELO
from agent.chess.engine.settings import DEFAULT_MEGABYTES, FINAL_CHOICES, SEARCHES
from agent.chess.evaluation.loading import DEFAULT
from agent.evaluation import HANDCRAFTED, NETWORK
from agent.games.variants import STANDARD, VARIANTS, find_variant
from openings.book_provider import MAX_MOVES, SHIPPED, VARIETIES, WEIGHTED
from protocols.uci.chess_session import WHITE_POINTS, ChessSession
from protocols.uci.options import Option

FORFEIT_SUFFIX = " forfeit"
GAME_RESULTS = "*", *WHITE_POINTS, *(result + FORFEIT_SUFFIX for result in WHITE_POINTS)


def _attribute_setter(name: str) -> Callable[[ChessSession, Any], None]:
    """Return an `on_change` callback that sets an attribute of the session."""
    return lambda session, value: setattr(session, name, value)


def _set_overhead(session: ChessSession, milliseconds: int) -> None:
    session.agent.overhead = milliseconds / 1e3


def _set_show_wdl(session: ChessSession, show: bool) -> None:
    # Not at once, because a running search uses the setting for its output.
    session.agent.submit(lambda job: setattr(session, "show_wdl", show))


def _book_setter(name: str) -> Callable[[ChessSession, Any], None]:
    return lambda session, value: session.change_book(lambda book: setattr(book, name, value))


def _ignore(session: ChessSession, value: object) -> None:
    """Accept an option that has no effect."""


def _set_game_result(session: ChessSession, text: str) -> None:
    """Learn from the game's result. The text must be one of GAME_RESULTS."""
    result = text.removesuffix(FORFEIT_SUFFIX)
    session.learn_result(result, forfeit=text.endswith(FORFEIT_SUFFIX))


COMMON_OPTIONS: tuple[Option, ...] = (
    Option(
        "Hash",
        "spin",
        lambda session, value: session.change_engine(lambda engine: engine.set_megabytes(value)),
        default=DEFAULT_MEGABYTES,
        min=1,
        max=65536,
        limited_by="megabytes",
    ),
    Option(
        "Clear Hash",
        "button",
        lambda session, _: session.change_engine(lambda engine: engine.clear()),
    ),
    Option(
        "Threads",
        "spin",
        lambda session, value: session.change_engine(lambda engine: engine.set_threads(value)),
        default=1,
        min=1,
        max=256,
        limited_by="threads",
    ),
    Option("MultiPV", "spin", _attribute_setter("multipv"), default=1, min=1, max=256),
    Option("Move Overhead", "spin", _set_overhead, default=10, min=0, max=5000),
    Option("OwnBook", "check", _book_setter("enabled"), default=True),
    Option(
        "BookFile",
        "string",
        lambda session, value: session.change_book(lambda book: book.set_books(value)),
        default=SHIPPED,
        requires_trust=True,
        safe_values=(SHIPPED,),
    ),
    Option(
        "BookDepth",
        "spin",
        _book_setter("depth"),
        default=MAX_MOVES,
        min=0,
        max=MAX_MOVES,
    ),
    Option(
        "BookVariety",
        "combo",
        _book_setter("variety"),
        default=WEIGHTED,
        choices=VARIETIES,
    ),
    Option(
        "UCI_LimitStrength",
        "check",
        lambda session, value: session.change_engine(lambda engine: engine.set_level(limit=value)),
        default=False,
    ),
    Option(
        "UCI_Elo",
        "spin",
        lambda session, value: session.change_engine(lambda engine: engine.set_level(elo=value)),
        default=MIN_ELO,
        min=MIN_ELO,
        max=MAX_ELO,
    ),
    Option(
        "Skill Level",
        "spin",
        lambda session, value: session.change_engine(lambda engine: engine.set_level(skill=value)),
        default=int(MAX_SKILL),
        min=0,
        max=int(MAX_SKILL),
    ),
    Option(
        "OwnTables",
        "check",
        lambda session, value: session.change_engine(
            lambda engine: engine.use_builtin_tablebase(value)
        ),
        default=True,
    ),
    Option(
        "SyzygyPath",
        "string",
        lambda session, value: session.change_engine(lambda engine: engine.use_syzygy(value)),
        requires_trust=True,
    ),
    Option(
        "GaviotaPath",
        "string",
        lambda session, value: session.change_engine(lambda engine: engine.use_gaviota(value)),
        requires_trust=True,
    ),
    Option(
        "Evaluation",
        "string",
        lambda session, value: session.change_evaluation(value or DEFAULT),
        default=DEFAULT,
        requires_trust=True,
        safe_values=(NETWORK, HANDCRAFTED.name),
    ),
    Option(
        "Search",
        "combo",
        lambda session, value: session.change_engine(lambda engine: engine.set_search(value)),
        default=SEARCHES[0],
        choices=SEARCHES,
    ),
    Option(
        "MoveSelection",
        "combo",
        lambda session, value: session.change_engine(lambda engine: engine.set_final_choice(value)),
        default=FINAL_CHOICES[0],
        choices=FINAL_CHOICES,
    ),
    Option("ExperienceFile", "string", ChessSession.change_learning_file, requires_trust=True),
    Option(
        "HabitsFile",
        "string",
        lambda session, value: session.change_opponent(lambda opponent: opponent.set_file(value)),
        requires_trust=True,
    ),
    Option("Debug Log File", "string", ChessSession.change_log, requires_trust=True),
)


OPTIONS: tuple[Option, ...] = (
    *COMMON_OPTIONS,
    # Has no effect, because `go ponder` works regardless of this option.
    Option("Ponder", "check", _ignore, default=False),
    Option("UCI_Chess960", "check", _attribute_setter("chess960"), default=False),
    Option(
        "UCI_Variant",
        "combo",
        ChessSession.change_variant,
        default=STANDARD,
        choices=VARIANTS,
        find_alias=find_variant,
    ),
    Option("UCI_AnalyseMode", "check", ChessSession.set_analysing, default=False),
    Option("UCI_ShowWDL", "check", _set_show_wdl, default=False),
    Option("UCI_Opponent", "string", ChessSession.set_opponent),
    # Not part of UCI, and set by our match runner. By default, the opponent model infers the result
    # from the last position.
    Option(
        "GameResult",
        "combo",
        _set_game_result,
        default=GAME_RESULTS[0],
        choices=GAME_RESULTS,
        hidden=True,
    ),
    # Shown by the front end. Setting it has no effect.
    Option(
        "UCI_EngineAbout",
        "string",
        _ignore,
        default="Kempelen, a game-playing agent server in Python, GPL-3.0-or-later. Its network "
        "was trained on self-play positions scored by Kempelen and by Stockfish 15.1; the "
        "hand-written evaluation was fitted to the same scores",
    ),
)
