"""The gettext catalogues, and messages that keep their arguments."""

import copy
import gettext
import pickle
import re
from pathlib import Path

import chess

from agent.games.fen import position_faults
from agent.io.message import Message, MessageError, library_message
from agent.io.sanitize import sanitize_line
from kempelen.console.translation import CATALOGUES, DOMAIN, error_message, translate
from protocols.permissions import Permissions
from tests.kempelen.message_templates import (
    ROOT,
    is_translated,
    miscounted_templates,
    placeholders,
    spanish,
)

SOURCES = [
    file
    for package in ("agent", "protocols", "openings", "kempelen")
    for file in sorted((ROOT / package).rglob("*.py"))
]


def test_compiled_catalogue_is_up_to_date() -> None:
    compiled = gettext.translation(DOMAIN, CATALOGUES, ["es"])
    for message in spanish():
        if not message.id:
            continue
        if message.pluralizable:
            found = tuple(compiled.ngettext(*message.id, count) for count in (1, 2))
        elif message.context:
            found = compiled.pgettext(message.context, message.id)
        else:
            found = compiled.gettext(message.id)
        assert found == message.string, "run make translations"
    assert len(compiled._catalog) == len(spanish()) + 2, "run make translations"


def test_translations_are_complete_and_use_the_same_placeholders() -> None:
    for message in spanish():
        if message.id and not message.pluralizable:
            assert message.string
            assert not message.fuzzy
            given, used = placeholders(message.id), placeholders(message.string)
            numbered = {name or str(place): rest for place, (name, *rest) in enumerate(given)}
            for place, (name, *rest) in enumerate(used):
                assert numbered[name or str(place)] == rest, message.id
            percent = re.compile(r"%(?:\(\w+\))?[srd]")
            assert percent.findall(message.id) == percent.findall(message.string)


def test_spanish_addresses_the_reader_as_tu() -> None:
    formal = re.compile(
        r"\b(usted|use|escriba|pruebe|pulse|vuelva|consulte|indique|espere|haga|encuentre"
        r"|aprenda|arrastre|su (jugada|rival|clave|respuesta|programa))\b",
        re.IGNORECASE,
    )
    assert [each.string for each in spanish() if formal.search(str(each.string))] == []


def test_messages_have_as_many_arguments_as_placeholders() -> None:
    assert [(file, *each) for file in SOURCES for each in miscounted_templates(file)] == []


def test_message_is_translated_with_its_arguments() -> None:
    inner = MessageError("board size must be even and at least 4 (got {})", 5)
    error = MessageError("game {}: {}", "game", inner)
    assert str(error) == "game game: board size must be even and at least 4 (got 5)"
    text = "juego game: el tamaño del tablero debe ser par y al menos 4 (es 5)"
    assert translate(str(error), "es") == error_message(error, "es") == text
    assert translate(str(error), "en") == str(error)


def test_text_of_arguments_is_not_translated_or_formatted() -> None:
    assert translate(Message("game {}: {}", "{x}", "game"), "es") == "juego {x}: game"
    assert translate("{", "es") == str(MessageError("{")) == "{"
    assert translate("", "es") == ""


def test_reason_of_an_os_error_is_translated() -> None:
    error = FileNotFoundError(2, "No such file or directory", "x")
    message = Message("{}: cannot read file: {}", Path("x"), error)
    assert message == "x: cannot read file: No such file or directory"
    assert translate(message, "es") == "x: no se puede leer el fichero: no existe"


def test_error_of_a_library_is_split_into_template_and_values() -> None:
    message = library_message(ValueError("illegal san: 'Ke2' in 8/8"))
    assert (message, message.template) == ("illegal san: 'Ke2' in 8/8", "illegal san: {} in {}")
    assert library_message(ValueError("empty fen")).arguments == ()
    assert library_message(ValueError(message)) is message


def test_message_survives_copies_and_unchanged_text() -> None:
    message = Message("game {}: {}", "nim", Message("not JSON"))
    for same in (pickle.loads(pickle.dumps(message)), copy.deepcopy(message), Message(message)):
        assert (same, same.template, same.arguments) == (
            message,
            message.template,
            message.arguments,
        )
    assert sanitize_line(message) is message
    assert sanitize_line(Message("{}", "a\nb")) == "a b"
    assert Permissions(presets={"x": {"name": "secret"}}).redact(message) is message


def test_faults_of_positions_are_translated() -> None:
    for fault in chess.Status:
        if fault:
            assert is_translated(fault.name.lower().replace("_", " ")), fault
    faults = position_faults(chess.Board("8/8/8/8/8/8/8/K7 w - - 0 1"))
    message = Message("illegal position ({})", faults)
    assert message == "illegal position (no black king)"
    assert translate(message, "es") == "posición ilegal (falta el rey negro)"
    both = Message("illegal position ({})", position_faults(chess.Board(None)))
    assert both == "illegal position (no white king, no black king, empty)"
    assert "falta el rey blanco, falta el rey negro" in translate(both, "es")
