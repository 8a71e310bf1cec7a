"""How engines are reached: what is known of each protocol is its row in KINDS.

Settings are checked by these rows, contestants made by them; a protocol that is added needs its
word in EngineProtocol and a row.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.games.go import Go
from protocols.client.gtp import GtpEngine
from protocols.client.inside import InsideEngine
from protocols.client.process import EngineNotFoundError, IoLog, find_program
from protocols.client.xboard import XBoardEngine
from protocols.mqtt import topics
from tournament.contestants import (
    BotContestant,
    Contestant,
    ProgramContestant,
    UciContestant,
    process_settings,
)
from tournament.engine_settings import EngineProtocol, EngineSettings
from tournament.game_settings import CHESS, GO, GameSettings, new_game
from tournament.lab_agents import check_agent, lab_program
from tournament.time_control import TimeControl
from tournament.values import SettingsError

if TYPE_CHECKING:
    from protocols.mqtt.client import BotClient


@dataclass(frozen=True, slots=True)
class Terms:
    """What a contestant takes part in, and what it is given for it.

    time: its time control, of which some engines must be told beforehand. bots: who reaches bots.
    """

    game: GameSettings = field(default_factory=GameSettings)
    time: TimeControl | None = None
    chess960: bool = False
    log: IoLog | None = None
    bots: "BotClient | None" = None


@dataclass(frozen=True, slots=True)
class EngineKind:
    """The engines of one protocol.

    name: of the protocol, as people write it. check: raises SettingsError if what `command` names
    is not there, or does not play the game. make: returns a contestant that is not started yet.
    limits: of a search, that it can be told beside times. plays: who, where engines of this kind
    play every game, but no Chess960; else they play chess alone. from_start: games begin at the
    start only, with moves, not at a position. speaks_uci: it has options of UCI, and is a
    UciContestant. behind_broker: it is reached over one, and may come later than others.
    """

    name: str
    check: Callable[[EngineSettings, GameSettings], None]
    make: Callable[[EngineSettings, Terms], Contestant]
    limits: frozenset[str] = frozenset({"nodes", "depth"})
    plays: str = ""
    from_start: bool = False
    speaks_uci: bool = False
    behind_broker: bool = False

    @property
    def every_game(self) -> bool:
        """Whether engines of this kind play games other than chess."""
        return bool(self.plays)


def _check_program(settings: EngineSettings, game: GameSettings) -> None:
    try:
        find_program(settings.command, settings.directory)
    except EngineNotFoundError as error:
        raise SettingsError(f"engine {settings.name}: {error}") from None


def _check_own(settings: EngineSettings, game: GameSettings) -> None:
    if settings.command != CHESS:
        raise SettingsError(f"engine {settings.name}: our agent plays {CHESS}")


def _check_bot(settings: EngineSettings, game: GameSettings) -> None:
    if not topics.is_name(settings.command):
        raise SettingsError(f"engine {settings.name}: {topics.NAME_RULE}")


def _make_uci(settings: EngineSettings, terms: Terms) -> Contestant:
    return UciContestant(settings, chess960=terms.chess960, log=terms.log)


def _make_xboard(settings: EngineSettings, terms: Terms) -> Contestant:
    engine = XBoardEngine(chess960=terms.chess960, **process_settings(settings, terms.log))
    return ProgramContestant(engine, settings.options)


def _make_gtp(settings: EngineSettings, terms: Terms) -> Contestant:
    # A game of a file may be called anything.
    game_id = "" if ":" in terms.game.name else terms.game.name
    engine = GtpEngine(
        setup=_gtp_setup(terms.game), game_id=game_id, **process_settings(settings, terms.log)
    )
    return ProgramContestant(engine, settings.options)


def _make_lab(settings: EngineSettings, terms: Terms) -> Contestant:
    program = process_settings(lab_program(settings, terms.game, terms.time), terms.log)
    return ProgramContestant(GtpEngine(setup=_gtp_setup(terms.game), **program), {})


def _make_own(settings: EngineSettings, terms: Terms) -> Contestant:
    def converse() -> InsideEngine:
        return InsideEngine(settings.name, terms.log)

    return UciContestant(settings, chess960=terms.chess960, log=terms.log, converse=converse)


def _make_bot(settings: EngineSettings, terms: Terms) -> Contestant:
    if terms.bots is None:
        raise SettingsError(
            f"engine {settings.name}: a bot is reached over a broker: add --mqtt URL"
        )
    return BotContestant(settings, terms.bots, chess960=terms.chess960)


def _gtp_setup(game: GameSettings) -> tuple[str, ...]:
    """Return the commands of GTP that begin a game."""
    if game.name == GO:
        go = new_game(game)
        assert isinstance(go, Go)
        return f"boardsize {go.size}", "clear_board", f"komi {go.komi:g}"
    if isinstance(game.options.get("size"), int):
        return f"boardsize {game.options['size']}", "clear_board"
    return ("clear_board",)


KINDS = {
    EngineProtocol.UCI: EngineKind("UCI", _check_program, _make_uci, speaks_uci=True),
    EngineProtocol.XBOARD: EngineKind(
        "xboard", _check_program, _make_xboard, limits=frozenset({"depth"})
    ),
    EngineProtocol.GTP: EngineKind(
        "GTP", _check_program, _make_gtp, limits=frozenset(), plays="programs", from_start=True
    ),
    EngineProtocol.LAB: EngineKind(
        "the lab",
        check_agent,
        _make_lab,
        limits=frozenset({"nodes", "depth", "playouts"}),
        plays="agents",
        from_start=True,
    ),
    EngineProtocol.AGENT: EngineKind("our agent", _check_own, _make_own, speaks_uci=True),
    EngineProtocol.MQTT: EngineKind("MQTT", _check_bot, _make_bot, behind_broker=True),
}


def kind_of(settings: EngineSettings) -> EngineKind:
    """Return the row of an engine's protocol."""
    return KINDS[settings.protocol]


def check_engine(settings: EngineSettings, game: GameSettings | None = None) -> None:
    """Raise SettingsError if an engine is not there, or does not play the game (chess if None)."""
    kind_of(settings).check(settings, game or GameSettings())


def make_contestant(settings: EngineSettings, terms: Terms | None = None) -> Contestant:
    """Return a contestant of the kind that the settings name; bots need a client."""
    return kind_of(settings).make(settings, terms or Terms())


def make_uci_contestant(settings: EngineSettings) -> UciContestant:
    """Return one that has the options of UCI, or raise SettingsError."""
    if not kind_of(settings).speaks_uci:
        raise SettingsError(
            f"engine {settings.name}: one that speaks UCI is needed, not {settings.protocol}"
        )
    made = make_contestant(settings)
    assert isinstance(made, UciContestant)
    return made
