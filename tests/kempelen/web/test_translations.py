"""What goes wrong is told in the visitor's language, also where something is filled in."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kempelen.web
from kempelen.web.analyse.game_analysis import AnalysisError, add_move, load_games
from kempelen.web.channel import TRANSLATED_FIELDS
from kempelen.web.play.setup import SetupError, parse_setup
from kempelen.web.site_context import SiteResources
from kempelen.web.translations import SPANISH, translate
from tests.kempelen.web.support import Served, serving

SPANISH_VISITOR = {"Accept-Language": "es-AR,es;q=0.9"}
# What is raised with a text for whoever looks at a page.
RAISED = (
    "SetupError",
    "AnalysisError",
    "HTTPException",
    "RefusedError",
    "EngineError",
    "ValueError",
)
TOLD = ("refuse", "refusal")


def forms(tree: ast.AST) -> Iterator[str]:
    """Give the texts that a module tells visitors, {} in place of what is filled in."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in RAISED + TOLD:
            for argument in node.args:
                form = written(argument)
                if " " in form:
                    yield form
        for argument in [*node.args, *(each.value for each in node.keywords)]:
            if isinstance(argument, ast.Dict):
                yield from told(argument)


def told(made: ast.Dict) -> Iterator[str]:
    """Give the texts of an object that says what went wrong."""
    values = {written(key): value for key, value in zip(made.keys, made.values, strict=True) if key}
    if written(values.get("kind")) in TRANSLATED_FIELDS:
        yield from filter(None, [written(values.get("text"))])


def written(node: ast.AST | None) -> str:
    """Return a text as its form, "" for what is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(written(each) or "{}" for each in node.values)
    return ""


def all_forms() -> list[str]:
    found = set()
    folder = Path(kempelen.web.__file__).parent
    for path in folder.rglob("*.py"):
        if path.name != "store.py":  # its errors are for whoever runs the server
            found |= set(forms(ast.parse(path.read_text(encoding="utf-8"))))
    return sorted(found)


def test_all_page_errors_have_spanish_translations() -> None:
    found = all_forms()
    assert len(found) > 50
    filled = [form.replace("{}", "7") for form in found]
    assert [text for text in filled if translate(text, "es") == text] == []


def test_translations_have_same_number_of_placeholders() -> None:
    for form, spanish in SPANISH.items():
        assert form.count("{}") == spanish.count("{}"), form
        assert translate(form, "en") == form


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"level": 1}, "nivel: se espera un número de 1350 a "),
        ({"side": "up"}, "color o turno: se espera uno de first, second, random"),
        ({"game": "nim", "options": {"misere": 1}}, "misere: se espera true o false"),
        ({"fen": "x" * 200}, "fen: se espera un texto de 120 caracteres como mucho"),
        ({"fen": "nonsense"}, "posición: el FEN no tiene 8 filas: 'nonsense'"),
        ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "posición: no puede darse en una partida"),
        ({"game": "othello", "options": {"size": 5}}, "juego othello: no hay tableros de tamaño 5"),
        ({"game": "nim", "options": {"colour": 1}}, "opciones: nim no tiene ninguna que se llame"),
    ],
)
def test_game_form_errors_are_translated(form: dict[str, Any], told: str) -> None:
    with pytest.raises(SetupError) as error:
        parse_setup(form, SiteResources())
    assert translate(str(error.value), "es").startswith(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1. e4 Ke2", "PGN: partida 1 (? - ?): la jugada 'Ke2' no es legal en "),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "esa posición no es legal ("),
        ("(;SZ[5];B[aa];W[aa])", "la jugada 1, A5, no es legal"),
        ("(;SZ[5:9];B[ea];W[fa])", "SGF: partida 1: un punto fuera del tablero de 5x9"),
        ('[Variant "Atomic"]\n\n1. e4 *', "PGN: partida 1 (? - ?): la variante Atomic no se juega"),
    ],
)
def test_file_errors_are_translated(text: str, told: str) -> None:
    with pytest.raises(AnalysisError) as error:
        load_games(text)
    assert translate(str(error.value), "es").startswith(told)


def test_study_errors_are_translated() -> None:
    query = {"boardXSize": 5, "boardYSize": 9, "rules": "chinese", "moves": [["B", "F9"]]}
    with pytest.raises(AnalysisError) as error:
        add_move({"game": "go", "query": query}, 0, "C3")
    assert translate(str(error.value), "es") == "no es un punto del tablero: F9"


def test_long_unknown_message_is_returned_unchanged() -> None:
    assert translate(": " * 10_000, "es") == ": " * 10_000


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
    ("method", "path", "body", "status", "told"),
    [
        ("POST", "/games", {"level": 1}, 400, "nivel: se espera un número"),
        ("GET", "/games/none/record", None, 404, "No existe esa partida."),
        ("GET", "/none", None, 404, "No existe esa página."),
        ("GET", "/watch/9/games", None, 404, "Eso no existe."),
        ("POST", "/analyse/load", {"text": "1. e4 Ke2"}, 422, "PGN: partida 1"),
        ("POST", "/analyse/move", {}, 400, "Hacen falta"),
        ("POST", "/signin", {}, 400, "Hace falta una clave."),
        ("POST", "/lessons/steps", b"game=nim", 404, "No existe esa página."),
        ("GET", "/lessons/choices", None, 500, "El servidor ha fallado"),
    ],
)
def test_request_errors_are_translated_as_json_or_text(
    served: Served, method: str, path: str, body: Any, status: int, told: str
) -> None:
    """A script is told in JSON, and who looks at the answer itself by a text."""
    answered, headers, text = served.ask(method, path, body, **SPANISH_VISITOR)
    assert (answered, json.loads(text)["error"][: len(told)]) == (status, told)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    _, headers, text = served.ask(method, path, body, Accept="text/html", **SPANISH_VISITOR)
    assert text.startswith(told)
    assert headers["Content-Type"].startswith("text/plain")
    _, _, text = served.ask(method, path, body)
    assert told not in text


def test_channel_errors_use_language_of_each_viewer(served: Served) -> None:
    game = served.begin(game="chess", opponent="Broken", side="second")
    english, spanish = served.watch(game), served.watch(game, **SPANISH_VISITOR)
    for line, told in (
        (english, "Broken: engine command "),
        (spanish, "Broken: la orden "),
    ):
        while not line.game.get("trouble"):
            line.hear("game")
        assert line.game["trouble"].startswith(told)
    spanish.send(do="move", move="e2e4")
    assert spanish.hear("error")["text"] == "No le toca jugar."
    for line in (english, spanish):
        line.close()
