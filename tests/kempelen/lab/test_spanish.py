"""Test that `--lang es` leaves no English in the lab's output."""

import argparse
import ast
import errno
import json
import re
from pathlib import Path

import pytest

from agent.game import ChanceGame
from agent.games import catalogue
from agent.search.catalogue import ALIASES, algorithms
from kempelen.cli import COMMANDS
from kempelen.commands.lab import ACTIONS
from kempelen.console.translation import error_message
from kempelen.lab import language
from kempelen.lab.exercises.exercise import ExerciseSpec
from kempelen.lab.exercises.generator import KINDS, make_exercise
from kempelen.lab.localized_parser import LocalizedParser
from kempelen.lab.notes import figures, reproductions
from tests.kempelen.lab.sources import sources
from tests.kempelen.message_templates import (
    ROOT,
    help_texts,
    is_translated,
    raised_templates,
    spanish,
)

RAW = "def raw(g):\n    return g.open_lines(g.turn) - g.open_lines(1 - g.turn)\n"
# Text that is not translated: names of algorithms, games and options.
NAMES = re.compile(r"--\w+|[\w.]*[-+_=/.][-+\w=/.]*|'[^']*'")


def english_words():
    """Return the words of English labels and messages that occur in no Spanish one."""
    messages = [each for each in spanish() if isinstance(each.id, str) and not each.context]
    english = {word for each in messages for word in split(each.id)}
    translated = {word for each in messages for word in split(each.string)}
    names = [*algorithms(), *ALIASES, *catalogue.builtin_names()]
    return english - translated - {word for name in names for word in name.split("-")}


def split(text):
    """Return the words of a text, without names."""
    return {word for word in re.findall(r"[^\W\d_]+", NAMES.sub(" ", text.lower())) if word[2:]}


ENGLISH = english_words()


def assert_spanish(text):
    left = split(text) & ENGLISH
    assert not left, f"{sorted(left)} in:\n{text}"


@pytest.fixture
def raw(tmp_path):
    file = tmp_path / "mio.py"
    file.write_text(RAW)
    return f"{file}:raw"


def drawn(lab, picture, *arguments):
    status, out, err = lab("draw", *arguments, "-o", picture, "--lang", "es")
    assert (status, out, err) == (0, f"{picture}\n", "")
    return "\n".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8")))


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", algorithms())
def test_every_algorithm_is_shown_in_spanish(lab, tmp_path, raw, name):
    game = ["--game", "tic-tac-toe", "--moves", "a3 b3 a2 c3", "--evaluation", raw]
    arguments = [*game, "--depth", "2", "--algorithm", name]
    for action in ("run", "trace"):
        status, out, err = lab(action, *arguments, "--lang", "es")
        assert (status, err) == (0, "")
        assert_spanish(out.replace("TEST", ""))  # the name in the notes' pseudo-code
    assert_spanish(drawn(lab, tmp_path / "arbol.svg", *arguments))


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("game", catalogue.builtin_names())
def test_every_game_is_shown_in_spanish(lab, tmp_path, game):
    is_chance = isinstance(catalogue.new_game(game), ChanceGame)
    algorithm = "expectiminimax" if is_chance else "alpha-beta"
    state = ["--state", "2+1/1"] if game == "backgammon" else []
    arguments = ["--game", game, *state, "--depth", "1", "--algorithm", algorithm]
    for action in ("run", "trace"):
        status, out, err = lab(action, *arguments, "--lang", "es")
        assert (status, err) == (0, "")
        assert_spanish(out)
    if game != "go":
        assert_spanish(drawn(lab, tmp_path / "arbol.svg", *arguments))


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "--game", "grundy", "--state", "7"],
        ["solve", "--game", "tic-tac-toe"],
        ["solve", "--game", "nim", "--branches", "3"],
        ["solve", "--game", "othello", "--size", "4", "--branches", "2"],
        ["solve", "--game", "connect-four", "--nodes", "50"],
        ["run", "--game", "nim", "--positions", "3", "--algorithm", "mtd-f"],
        ["run", "--game", "nim", "--nodes", "3", "--algorithm", "minimax"],
        ["trace", "--game", "connect-four", "--algorithm", "null-move+table", "--depth", "3"],
    ],
    ids=" ".join,
)
def test_other_tables_are_in_spanish(lab, arguments):
    status, out, err = lab(*arguments, "--lang", "es")
    assert (status, err) == (1 if "50" in arguments else 0, "")
    assert_spanish(out)


@pytest.mark.thorough
def test_plot_is_in_spanish(lab, tmp_path):
    picture = tmp_path / "hojas.svg"
    arguments = ["--branching", "2", "--depth", "3", "--trees", "1", "-o", picture]
    assert lab("plot", *arguments, "--lang", "es")[0] == 0
    found = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))
    assert_spanish("\n".join(found))


@pytest.mark.thorough
def test_figures_of_the_lecture_notes_are_in_spanish():
    translate = language.translator("es")
    told = [
        text
        for figure in reproductions.build_figures(translate)
        for text in (
            *(figure.title, figure.text, *(each.title for each in figure.pictures)),
            *(text for row in figure.rows for text in (row.what, row.said, row.found, row.why)),
        )
    ]
    told += [text for each in reproductions.omitted_figures(translate) for text in each]
    told += map(translate, figures.LABELS.values())
    assert_spanish("\n".join(text.replace("TEST", "") for text in told if text))


def test_word_moves_are_printed_and_accepted_in_spanish(lab):
    pig = ["--game", "pig", "--size", "30", "--algorithm", "expectiminimax", "--depth", "1"]
    _, out, _ = lab("trace", *pig, "--lang", "es", "--moves", "tirar 6 PLANTARSE")
    assert {"tirar", "plantarse"} <= split(out)
    _, english, _ = lab("trace", *pig, "--moves", "roll 6 hold")
    assert {"roll", "hold"} <= split(english)
    assert lab("trace", *pig, "--lang", "es", "--moves", "roll 6 hold")[1] == out
    told = [lab("run", *pig, "--json", "--lang", each)[1] for each in ("en", "es")]
    moves = [json.loads(each)["results"][0]["move"] for each in told]
    assert moves[0] == moves[1]  # scripts read the game's own notation


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("action", [None, *ACTIONS])
@pytest.mark.parametrize("first", [True, False])
def test_help_is_in_spanish_if_requested(lab, action, first):
    arguments = [action] if action else []
    arguments = ["--lang=es", *arguments] if first else [*arguments, "--lang", "es"]
    status, out, err = lab(*arguments, "--help")
    assert (status, err) == (0, "")
    assert out.startswith("uso: kempelen lab")
    assert "muestra esta ayuda" in out
    actions = "|".join(ACTIONS)
    assert_spanish(re.sub(rf"\{{.*?\}}|kempelen lab \w+|^    ({actions}) ", "", out, flags=re.M))
    plain = lab(*([action] if action else []), "--help")[1]
    assert "usage: " in plain
    assert "show this help" in plain


def test_every_help_text_is_in_spanish():
    given = [(file, *each) for file in sources() for each in help_texts(file)]
    given += [(ROOT / "kempelen/cli.py", 0, COMMANDS["lab"])]
    for file, line, text in given:
        if len(split(text)) > 1:
            assert is_translated(text), f"{file}:{line}: {text}"


def test_every_label_is_in_spanish():
    asked = set()
    for file in (ROOT / "kempelen/lab").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "translate":
                asked |= {
                    each.value
                    for each in ast.walk(node)
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                }
    assert len(asked) > 40
    assert [text for text in asked if not is_translated(text)] == []


def test_every_error_has_a_spanish_translation():
    found = [(file, *each) for file in sources() for each in raised_templates(file)]
    assert len(found) > 100
    offenders = [
        f"{file.relative_to(ROOT)}:{line}: {text}"
        for file, line, text in found
        if not is_translated(text)
    ]
    assert not offenders


# Argparse messages for the program's author, not for its user.
FOR_AUTHORS = (
    "conflicting", "__call__", "'required' is", "mutually exclusive", "callable", "cannot merge",
    "invalid option string", "dest=", "conflict_resolution", "multiple subparser", "can't open",
    'argument "-"', "unexpected option", "deprecated", "%(prog)s: error",
)  # fmt: skip


def test_argparse_messages_have_spanish_translations():
    known = {text for each in spanish() for text in (each.id, *each.id)}
    for node in ast.walk(ast.parse(Path(argparse.__file__).read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("_", "ngettext")):
            continue
        for text in (each.value for each in node.args if isinstance(each, ast.Constant)):
            if any(each in text for each in FOR_AUTHORS):
                continue
            assert text in known, text


@pytest.mark.thorough(keep=10)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trace", "--depth", "x"], "argumento --depth: se esperaba un número entero mayor que 0"),
        (["trace", "--seed", "x"], "argumento --seed: no es un número entero: 'x'"),
        (["trace", "--nothing"], "argumentos que no se reconocen: --nothing"),
        (["run"], "hace falta uno de los argumentos --game --tree"),
        (["trace", "--depth"], "argumento --depth: se esperaba un argumento"),
        (["trace", "--game", "nim", "--tree", "x"], "no se permite junto al argumento --game"),
        (["trace", "--json=1"], "argumento --json: no admite el valor '1'"),
        (["trace", "--mo", "x"], "opción ambigua: --mo podría ser --moves, --movetime"),
        (["run", "--game", "nim", "--deepen", "all"], "opción no válida: 'all' (elige entre"),
        (["chart"], "opción no válida: 'chart' (elige entre"),
        ([], "faltan estos argumentos: ACCIÓN"),
        (
            ["trace", "--tree", "nowhere.yaml"],
            "nowhere.yaml: no se puede leer el fichero: no existe",
        ),
        (["trace", "--tree", "."], ".: no se puede leer el fichero: es una carpeta"),
        (
            ["trace", "--algorithm", "sss"],
            "algoritmo desconocido: 'sss' (se espera uno de: alpha-beta",
        ),
        (["trace", "--algorithm", "uct+playouts=many"], "playouts debe ser un número entero"),
        (["trace", "--algorithm", "uct+final=best"], "final debe ser una de visits, mean, ucb"),
        (["trace", "--game", "chequers"], "juego desconocido: 'chequers' (se espera uno de: "),
        (["trace", "--game", "mi.py"], "para una clase de un fichero escribe mi.py:Class"),
        (
            ["trace", "--game", "nim", "--size", "3,-1"],
            "los montones deben tener al menos 0 fichas (hay -1)",
        ),
        (
            ["trace", "--game", "nim", "--option", "misery=true"],
            "ha recibido un argumento que no conoce: 'misery' (opciones: heaps, misere",
        ),
        (["trace", "--game", "nim", "--moves", "z9"], "jugada ilegal 'z9' (jugadas legales: a1"),
        (["trace", "--game", "pig"], "no admite juegos de azar (usa expectiminimax"),
        (["trace", "--evaluation", "no.py:f"], "no existe el fichero de evaluación"),
        (["trace", "--option", "misere"], "se esperaba NOMBRE=VALOR, no 'misere'"),
        (["trace", "--game", "chess", "--option", "fen=x"], "FEN no válido"),
        (["solve", "--game", "pig"], "pig: los juegos de azar no se pueden resolver"),
        (["solve", "--game", "chess"], "la búsqueda ha ido demasiado hondo"),
        (["plot"], "nada que hacer (usa -o FICHERO o --json)"),
        (["draw", "-o", "x.jpg"], "formato de imagen desconocido (se espera .svg"),
    ],
)
def test_errors_are_in_spanish(lab, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = lab(*arguments, "--lang", "es")
    assert (status, out) == (2, "")
    assert message in err
    said = err.partition("error: ")[2] or err
    names = "all|heaps|playouts|FILE|Class|best|misery|misere|fen|many|final|mean|visits|chart"
    assert_spanish(re.sub(rf"\b({names})\b|kempelen lab \w+", "", said))


def test_invalid_tree_error_names_the_location(lab, tmp_path):
    tree = tmp_path / "arbol.yaml"
    for text, message in (
        ("[[3, x]]", "1.2: nodo no válido: 'x' (se espera un número o una lista)"),
        ("[[3, []]]", "1.2: lista vacía"),
        ("[[3, 4]\n", "YAML no válido en la línea 2, columna 1"),
        ("x", "la raíz: nodo no válido: 'x' (se espera un número o una lista)"),
    ):
        tree.write_text(text)
        status, _, err = lab("trace", "--tree", tree, "--lang", "es")
        assert (status, message in err) == (2, True), err


def test_evaluation_errors_are_in_spanish(lab, tmp_path):
    file = tmp_path / "mio.py"
    file.write_text("def f(g):\n    return 1 / 0\n\n\ndef n(g):\n    return float('nan')\n")
    nim = ["run", "--game", "nim", "--depth", "1", "--lang", "es", "--evaluation"]
    _, _, err = lab(*nim, f"{file}:f")
    assert "f ha fallado: ZeroDivisionError: division by zero (mio.py, línea 2)" in err
    assert "n ha devuelto nan (debe ser finito" in lab(*nim, f"{file}:n")[2]
    assert "función desconocida 'g' (definidas: f, n" in lab(*nim, f"{file}:g")[2]


def test_file_system_errors_are_in_spanish():
    missing = FileNotFoundError(errno.ENOENT, "No such file or directory", "x.yaml")
    assert error_message(missing, "es") == "x.yaml: no existe"
    assert error_message(missing, "en") == "x.yaml: No such file or directory"
    assert error_message(OSError(errno.ENOSPC, "No space left on device"), "es").startswith(
        "no queda"
    )


def test_language_option_works_anywhere_and_abbreviated(lab):
    outs = {
        lab(*arguments, "--depth", "x")[2].partition("error: ")[2]
        for arguments in (
            ["trace", "--lang", "es"],
            ["trace", "--lang=es"],
            ["trace", "--la", "es"],
            ["--lang", "es", "trace"],
        )
    }
    assert len(outs) == 1
    assert "se esperaba" in outs.pop()
    assert lab("--lang", "es", "solve", "--game", "nim", "--size", "1")[1].count("gana") > 0
    assert "wins" in lab("--lang", "es", "solve", "--game", "nim", "--lang", "en")[1]


def test_progress_labels_are_in_spanish(monkeypatch, lab, capsys):
    """The progress labels on a terminal, which the test simulates."""
    told = []
    monkeypatch.setattr(
        "kempelen.lab.comparison.with_progress",
        lambda items, total, label: told.append(label) or items,
    )
    monkeypatch.setattr(
        "kempelen.lab.plot.with_progress",
        lambda items, total, label: told.append(label) or items,
    )

    class Working:
        def __init__(self, label):
            told.append(label)

        def __enter__(self):
            pass

        def __exit__(self, *_):
            pass

    for module in ("traced_search", "solve"):
        monkeypatch.setattr(f"kempelen.lab.{module}.working", Working)
    lab("run", "--game", "nim", "--depth", "1", "--algorithm", "minimax", "--lang", "es")
    lab("plot", "--depth", "1", "--branching", "2", "--trees", "1", "--json", "--lang", "es")
    lab("trace", "--lang", "es")
    lab("solve", "--game", "nim", "--size", "1", "--lang", "es")
    assert told == ["buscando", "buscando", "buscando", "resolviendo"]


def test_unknown_option_is_rejected_in_english(lab):
    assert "unrecognized arguments: --nothing" in lab("trace", "--nothing")[2]
    assert issubclass(LocalizedParser, argparse.ArgumentParser)


def test_questions_call_inner_nodes_interiores():
    for kind in KINDS:
        each = make_exercise(ExerciseSpec(kind, seed=5))
        question = " ".join(each.question(language.translator("es")))
        assert "nodos internos" not in question
