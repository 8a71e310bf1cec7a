"""How engines are reached: what is known of each protocol is its row in KINDS.

Settings are checked by these rows, contestants made by them; a protocol that is added needs its
word in EngineProtocol and a row.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from protocols.client.inside import InsideEngine, MakeServed
from protocols.client.process import EngineNotFoundError, IoLog, find_program
from protocols.mqtt import topics
from tournament.contestants import (
    BotContestant,
    Contestant,
    GtpContestant,
    UciContestant,
    XBoardContestant,
)
from tournament.engine_settings import EngineProtocol, EngineSettings
from tournament.game_settings import CHESS, GameSettings, new_game
from tournament.lab_agents import check_agent, lab_program
from tournament.values import SettingsError

if TYPE_CHECKING:
    from protocols.mqtt.client import BotClient


@dataclass(frozen=True, slots=True)
class Terms:
    """What a contestant takes part in, and what it is given for it. bots: who reaches bots.

    own: makes our own agent's protocol, of what takes its lines, where it is to share something.
    """

    game: GameSettings = field(default_factory=GameSettings)
    chess960: bool = False
    log: IoLog | None = None
    bots: "BotClient | None" = None
    own: MakeServed | None = None


@dataclass(frozen=True, slots=True)
class EngineKind:
    """The engines of one protocol.

    name: of the protocol, as people write it. check: raises SettingsError if what `command` names
    is not there, or does not play the game. make: returns a contestant that is not started yet.
    limits: of a search, that it can be told beside times. plays: who, where engines of this kind
    play every game; else they play chess alone. from_start: games begin at the start only, with
    moves, not at a position, and are no Chess960. speaks_uci: it has options of UCI, and is a
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
    if game.name != CHESS:
        new_game(game)


def _make_uci(settings: EngineSettings, terms: Terms) -> Contestant:
    return UciContestant(settings, chess960=terms.chess960, log=terms.log)


def _make_xboard(settings: EngineSettings, terms: Terms) -> Contestant:
    return XBoardContestant(settings, chess960=terms.chess960, log=terms.log)


def _make_gtp(settings: EngineSettings, terms: Terms) -> Contestant:
    # A game of a file may be called anything.
    game_id = "" if ":" in terms.game.name else terms.game.name
    return GtpContestant(settings, terms.game, game_id=game_id, log=terms.log)


def _make_lab(settings: EngineSettings, terms: Terms) -> Contestant:
    program = dataclasses.replace(lab_program(settings, terms.game), options={})
    return GtpContestant(program, terms.game, log=terms.log)


def _make_own(settings: EngineSettings, terms: Terms) -> Contestant:
    def converse() -> InsideEngine:
        return InsideEngine(settings.name, terms.log, terms.own)

    return UciContestant(settings, chess960=terms.chess960, log=terms.log, converse=converse)


def _make_bot(settings: EngineSettings, terms: Terms) -> Contestant:
    if terms.bots is None:
        raise SettingsError(
            f"engine {settings.name}: a bot is reached over a broker: add --mqtt URL"
        )
    return BotContestant(settings, terms.bots, terms.game, chess960=terms.chess960)


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
    EngineProtocol.MQTT: EngineKind(
        "MQTT",
        _check_bot,
        _make_bot,
        limits=frozenset({"nodes", "depth", "playouts"}),
        plays="bots",
        behind_broker=True,
    ),
}


def kind_of(settings: EngineSettings) -> EngineKind:
    """Return the row of an engine's protocol."""
    return KINDS[settings.protocol]


def refuse_game(settings: EngineSettings, game: GameSettings) -> None:
    """Raise SettingsError for a game that engines of the protocol do not play."""
    if game.name == CHESS or kind_of(settings).every_game:
        return
    players = [
        f"{kind.plays} with the protocol {word}" for word, kind in KINDS.items() if kind.plays
    ]
    raise SettingsError(
        f"engine {settings.name or settings.command} plays chess only: {game.name} is played by "
        f"{', '.join(players[:-1])} and {players[-1]}"
    )


def check_engine(settings: EngineSettings, game: GameSettings | None = None) -> None:
    """Raise SettingsError if an engine is not there, or does not play the game (chess if None)."""
    kind_of(settings).check(settings, game or GameSettings())


def make_contestant(settings: EngineSettings, terms: Terms | None = None) -> Contestant:
    """Return a contestant of the kind that the settings name; bots need a client."""
    return kind_of(settings).make(settings, terms or Terms())


def make_uci_contestant(
    settings: EngineSettings, *, chess960: bool = False, own: MakeServed | None = None
) -> UciContestant:
    """Return one that has the options of UCI, or raise SettingsError."""
    if not kind_of(settings).speaks_uci:
        raise SettingsError(
            f"engine {settings.name}: one that speaks UCI is needed, not {settings.protocol}"
        )
    made = make_contestant(settings, Terms(chess960=chess960, own=own))
    assert isinstance(made, UciContestant)
    return made
