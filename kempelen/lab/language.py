"""Format and translate the output of the `kempelen lab` commands (English or Spanish)."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from math import inf, isinf, nextafter
from typing import Any

from agent.search.terminal_scoring import utility
from kempelen.lab.exercises import spanish
from kempelen.lab.localized_parser import LANGUAGES, OPTION

Translator = Callable[[str], str]

# The largest finite float: the lower bound of a null window at infinity.
BELOW_INFINITY = nextafter(inf, 0)

SPANISH = spanish.SPANISH | {
    "LOSS": "PIERDE",
    "WIN": "GANA",
    "algorithm": "algoritmo",
    "algorithms": "algoritmos",
    "all alike": "todos iguales",
    "alpha": "alfa",
    "and then": "y después",
    "best case": "mejor caso",
    "best move": "mejor jugada",
    "best play": "mejor juego",
    "bounds": "cotas",
    "branching": "ramificación",
    "by": "por",
    "chance": "azar",
    "cut off": "podado",
    "cut-off": "poda",
    "cut-off by": "poda por",
    "cut-offs": "podas",
    "depth": "profundidad",
    "draw": "empate",
    "enter": "entra",
    "enter again": "entra de nuevo",
    "evaluate": "evalúa",
    "evaluations": "evaluaciones",
    "expand": "expande",
    "false": "FALSO",
    "first": "primero",
    "game": "partida",
    "known from experience": "conocida por experiencia",
    "learned": "aprendido",
    "from memory": "de la memoria",
    "inner nodes": "nodos internos",
    "iterations": "iteraciones",
    "last completed depth": "última profundidad completada",
    "leaf": "hoja",
    "leaves": "hojas",
    "leaves per inner node": "hojas por nodo interno",
    "loses": "pierde",
    "mean": "media",
    "memory": "memoria",
    "minimax tree": "árbol minimax",
    "more": "más",
    "move": "jugada",
    "moves": "jugadas",
    "merged nodes": "nodos agrupados",
    "no iteration was completed": "no se completó ninguna iteración",
    "node": "nodo",
    "nodes": "nodos",
    "not visited": "sin visitar",
    "nodes of the strategy": "nodos de la estrategia",
    "order of visits": "orden de visita",
    "player": "jugador",
    "playout": "simulación",
    "playouts": "simulaciones",
    "points": "puntos",
    "position": "posición",
    "positions": "posiciones",
    "positions solved": "posiciones resueltas",
    "principal variation": "variante principal",
    "random order": "orden aleatorio",
    "re-searches": "rebúsquedas",
    "restart": "empieza de nuevo",
    "result": "resultado",
    "return": "devuelve",
    "reward": "recompensa",
    "same move": "misma jugada",
    "searching": "buscando",
    "same value": "mismo valor",
    "second": "segundo",
    "select": "selecciona",
    "simulate": "simula",
    "solving": "resolviendo",
    "solved leaves": "hojas resueltas",
    "seconds of CPU time": "segundos de CPU",
    "games": "partidas",
    "step": "paso",
    "steps": "pasos",
    "value loss": "error del valor",
    "move loss": "error de las jugadas",
    "stopped": "detenido",
    "stopped by a limit": "detenida por un límite",
    "strategy": "estrategia",
    "surprise": "sorpresa",
    "table hits": "aciertos en tabla",
    "test": "prueba",
    "the first player": "el primer jugador",
    "the mover": "quien mueve",
    "the second player": "el segundo jugador",
    "theory": "teoría",
    "time": "tiempo",
    "true": "CIERTO",
    "valid for deep trees only; here R^d is below the minimum": (
        "solo vale para árboles profundos; aquí R^d queda por debajo del mínimo"
    ),
    "value": "valor",
    "visits": "visitas",
    "win value": "valor de ganar",
    "window": "ventana",
    "winning strategy": "estrategia ganadora",
    "wins": "gana",
}


# Moves of the built-in games whose notation is an English word.
SPANISH_MOVES = {"hold": "plantarse", "pass": "pasar", "roll": "tirar"}


def configure(parser: ArgumentParser, *, default: str) -> None:
    parser.add_argument(
        OPTION,
        choices=LANGUAGES,
        default=default,
        help="output language (default: en)",
    )


def translator(name: str) -> Translator:
    """Return a function that translates English labels into the language `name` ("en" or "es").

    The Spanish function raises KeyError for an unknown label.
    """
    return SPANISH.__getitem__ if name == "es" else str


def translate_move(text: str, translate: Translator) -> str:
    """Translate a move whose notation is an English word, such as "pass", for display."""
    return text if translate is str else SPANISH_MOVES.get(text, text)


def parse_move(text: str, translate: Translator) -> str:
    """Convert a translated move, such as Spanish "pasar", back to the game's notation."""
    if translate is str:
        return text
    return {translated: english for english, translated in SPANISH_MOVES.items()}.get(
        text.lower(), text
    )


def json_value(value: Any, *, decided: bool = False) -> Any:
    """Convert a value to JSON data recursively, with infinite floats as text.

    If `decided` is true, a float that encodes a win or loss is replaced by its utility.
    """
    if isinstance(value, dict):
        return {key: json_value(each, decided=decided) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(each, decided=decided) for each in value]
    if not isinstance(value, float):
        return value
    if isinf(value):
        return format_value(value)
    end = utility(value) if decided else None
    return value if end is None else end


def format_value(value: float, digits: int = 4, translate: Translator = str) -> str:
    """Format a search value with `digits` significant digits, or as ∞, WIN or LOSS."""
    if abs(value) == inf:
        return "∞" if value > 0 else "-∞"
    if abs(value) == BELOW_INFINITY:
        return "∞-" if value > 0 else "-∞+"
    decides = utility(value)
    if decides is not None:
        return format_outcome(decides, translate)
    return f"{value + 0.0:.{digits}g}"  # adding 0.0 turns -0.0 into 0


def format_outcome(utility: float, translate: Translator) -> str:
    word = translate("WIN" if utility > 0 else "LOSS")
    return word if abs(utility) == 1 else f"{word} {utility:.4g}"


def format_window(alpha: float, beta: float, translate: Translator = str) -> str:
    """Format a search window as "(alpha, beta)", or a null window as "(a, a+)" or "(b-, b)"."""
    is_null = alpha != beta and nextafter(alpha, inf) == beta
    low, high = format_value(alpha, translate=translate), format_value(beta, translate=translate)
    if is_null and len(repr(alpha)) <= len(repr(beta)):
        return f"({low}, {low}+)"
    return f"({high}-, {high})" if is_null else f"({low}, {high})"


def format_label(path: tuple[Any, ...]) -> str:
    """Format a node's path of child numbers, such as "1.2.1", or "ε" for the root."""
    return ".".join(map(str, path)) or "ε"
