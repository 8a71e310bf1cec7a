"""Error messages are translated to the visitor's language, with their values."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kempelen.web
from kempelen.console.translation import translate
from kempelen.web.analyse.game_analysis import AnalysisError, add_move, load_games
from kempelen.web.channel import TRANSLATED_FIELDS
from kempelen.web.play.setup import SetupError, parse_setup
from kempelen.web.site_context import SiteResources
from tests.kempelen.message_templates import is_translated
from tests.kempelen.web.support import Served, serving

SPANISH_VISITOR = {"Accept-Language": "es-AR,es;q=0.9"}
# Exceptions with a message for visitors.
RAISED = (
    "SetupError",
    "AnalysisError",
    "HTTPException",
    "RejectedError",
    "EngineError",
    "ValueError",
)
CALLS = ("reject", "error_response", "Message")


def forms(tree: ast.AST) -> Iterator[str]:
    """Yield the templates of a module's messages for visitors."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in RAISED + CALLS:
            for argument in node.args:
                form = written(argument)
                if " " in form:
                    yield form
        for argument in [*node.args, *(each.value for each in node.keywords)]:
            if isinstance(argument, ast.Dict):
                yield from message_texts(argument)


def message_texts(made: ast.Dict) -> Iterator[str]:
    """Yield the texts of an error message to the page."""
    values = {written(key): value for key, value in zip(made.keys, made.values, strict=True) if key}
    if written(values.get("kind")) in TRANSLATED_FIELDS:
        yield from filter(None, [written(values.get("text"))])


def written(node: ast.AST | None) -> str:
    """Return the form of a string expression, "" for other expressions."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(written(each) or "{}" for each in node.values)
    return ""


def all_forms() -> list[str]:
    found = set()
    folder = Path(kempelen.web.__file__).parent
    for path in folder.rglob("*.py"):
        if path.name not in ("archive.py", "database.py"):  # their errors are for the operator
            found |= set(forms(ast.parse(path.read_text(encoding="utf-8"))))
    return sorted(found)


def test_all_page_errors_have_spanish_translations() -> None:
    found = all_forms()
    assert len(found) > 50
    assert [form for form in found if not is_translated(form)] == []


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"level": 1}, "nivel: debe ser un número de 600 a "),
        (
            {"side": "up"},
            "color o turno: valor no válido (se espera uno de: first, ",
        ),
        ({"game": "nim", "options": {"misere": 1}}, "misere: debe ser true o false"),
        ({"fen": "x" * 200}, "fen: debe ser un texto de 120 caracteres como máximo"),
        ({"fen": "nonsense"}, "posición: el FEN no tiene 8 filas: 'nonsense'"),
        ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "posición: no es legal"),
        (
            {"game": "othello", "options": {"size": 5}},
            "juego othello: el tamaño del tablero debe ser par",
        ),
        ({"game": "nim", "options": {"colour": 1}}, "opciones: nim no tiene la opción"),
    ],
)
def test_game_form_errors_are_translated(form: dict[str, Any], expected: str) -> None:
    with pytest.raises(SetupError) as error:
        parse_setup(form, SiteResources())
    assert translate(str(error.value), "es").startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. e4 Ke2", "PGN: partida 1, la jugada 1 no es legal (1... Ke2)"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "posición ilegal ("),
        ("(;SZ[5];B[aa];W[aa])", "SGF: partida 1, la jugada 1, A5, no es legal"),
        ("(;SZ[5:9];B[ea];W[fa])", "SGF: partida 1, un punto está fuera del tablero de 5x9"),
        ("(;SZ[5];B[a])", "SGF: partida 1, B[a]: valor no válido en el nodo 1"),
        ("(;GM[2];B[aa])", "SGF: partida 1, GM[2]: no es una partida de go (se espera GM[1])"),
        ("(nothing)", "SGF: no hay datos SGF"),
        (
            '[Variant "Losers"]\n\n1. e4 *',
            "PGN: partida 1, no se admite la variante Losers",
        ),
    ],
)
def test_file_errors_are_translated(text: str, expected: str) -> None:
    with pytest.raises(AnalysisError) as error:
        load_games(text)
    assert translate(str(error.value), "es").startswith(expected)


def test_study_errors_are_translated() -> None:
    query = {"boardXSize": 5, "boardYSize": 9, "rules": "chinese", "moves": [["B", "F9"]]}
    with pytest.raises(AnalysisError) as error:
        add_move({"game": "go", "query": query}, 0, "C3")
    assert translate(str(error.value), "es") == "no es un punto del tablero: F9"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    def fail() -> Any:
        raise RuntimeError("a fault")

    offers = SiteResources(engines={"Broken": "uci /no/such/program"}, choices=fail)
    with serving(
        tmp_path_factory.mktemp("said") / "kempelen.commands.web.sqlite", offers=offers
    ) as server:
        yield server


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "expected"),
    [
        ("POST", "/games", {"level": 1}, 400, "nivel: debe ser un número"),
        ("GET", "/games/none/record", None, 404, "No existe esa partida."),
        ("GET", "/none", None, 404, "No existe esa página."),
        ("GET", "/watch/9/games", None, 404, "No se ha encontrado ese torneo o esa partida."),
        ("POST", "/analyse/load", {"text": "1. e4 Ke2"}, 422, "PGN: partida 1"),
        ("POST", "/analyse/move", {}, 400, "Falta study, ply o move."),
        ("POST", "/signin", {}, 400, "Falta la clave."),
        ("POST", "/lessons/steps", b"game=nim", 404, "No existe esa página."),
        ("GET", "/lessons/choices", None, 500, "Error interno del servidor"),
    ],
)
def test_request_errors_are_translated_as_json_or_text(
    served: Served, method: str, path: str, body: Any, status: int, expected: str
) -> None:
    """Scripts get JSON, and browsers a page, or plain text if they sent a form."""
    answered, headers, text = served.ask(method, path, body, **SPANISH_VISITOR)
    assert (answered, json.loads(text)["error"][: len(expected)]) == (status, expected)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    _, headers, text = served.ask(method, path, body, Accept="text/html", **SPANISH_VISITOR)
    assert expected in text
    if method == "GET":
        assert headers["Content-Type"].startswith("text/html")
        assert '<a href="/play">Jugar</a>' in text
    else:
        assert text.startswith(expected)
        assert headers["Content-Type"].startswith("text/plain")
    _, _, text = served.ask(method, path, body)
    assert expected not in text


def test_channel_errors_use_language_of_each_viewer(served: Served) -> None:
    game = served.begin(game="chess", opponent="Broken", side="second")
    english, spanish = served.watch(game), served.watch(game, **SPANISH_VISITOR)
    for line, expected in (
        (english, "Broken: engine command "),
        (spanish, "Broken: la orden "),
    ):
        while not line.game.get("trouble"):
            line.hear("game")
        assert line.game["trouble"].startswith(expected)
    spanish.send(do="move", move="e2e4")
    assert spanish.hear("error")["text"] == "No es tu turno."
    for line in (english, spanish):
        line.close()
