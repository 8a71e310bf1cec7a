"""The words that people see, in English or in the Spanish of the lecture notes."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from math import inf, isinf, nextafter
from typing import Any

from agent.search.terminal_scoring import utility
from kempelen.lab.exercises import spanish
from kempelen.lab.localized_parser import LANGUAGES, OPTION

Translator = Callable[[str], str]

# The number next to infinity, of a null window that asks about all values at once.
BELOW_INFINITY = nextafter(inf, 0)

SPANISH = spanish.SPANISH | {
    "LOSS": "PIERDE",
    "WIN": "GANA",
    "a clock that stops later plays": "un reloj que pare después juega",
    "a win counts": "ganar cuenta",
    "algorithm": "algoritmo",
    "algorithms": "algoritmos",
    "all alike": "todos iguales",
    "alpha": "alfa",
    "and then": "y después",
    "begin anew": "empieza de nuevo",
    "best case": "mejor caso",
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
    "it holds for deep trees; here R^d is below the minimum": (
        "vale para árboles profundos; aquí R^d queda por debajo del mínimo"
    ),
    "leaf": "hoja",
    "leaves": "hojas",
    "leaves for each": "hojas por cada uno",
    "levels": "niveles",
    "loses": "pierde",
    "mean": "media",
    "memory": "memoria",
    "minimax tree": "árbol minimax",
    "more": "más",
    "move": "jugada",
    "moves": "jugadas",
    "no level was completed": "no se completó ningún nivel",
    "node": "nodo",
    "nodes gathered": "nodos reunidos",
    "nodes above the leaves": "nodos por encima de las hojas",
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
    "seconds of processor time": "segundos de procesador",
    "games": "partidas",
    "step": "paso",
    "steps": "pasos",
    "value loss": "error del valor",
    "move loss": "error de las jugadas",
    "stopped": "detenido",
    "strategy": "estrategia",
    "surprise": "sorpresa",
    "table hits": "aciertos en tabla",
    "test": "prueba",
    "the clock stopped the next one, and plays": "el reloj paró el siguiente, y juega",
    "the first player": "el primer jugador",
    "the last level completed is": "el último nivel completo es",
    "the mover": "quien mueve",
    "the second player": "el segundo jugador",
    "theory": "teoría",
    "time": "tiempo",
    "true": "CIERTO",
    "value": "valor",
    "visits": "visitas",
    "window": "ventana",
    "winning strategy": "estrategia ganadora",
    "wins": "gana",
}


# The moves of our games that are words.
SPANISH_MOVES = {"hold": "plantarse", "pass": "pasar", "roll": "tirar"}


def configure(parser: ArgumentParser, *, default: str) -> None:
    """Declare the language."""
    parser.add_argument(
        OPTION,
        choices=LANGUAGES,
        default=default,
        help="the language of all that is said (default: en)",
    )


def translator(name: str) -> Translator:
    """Return what says an English label in the language of that name.

    Raises KeyError for a label that has no Spanish.
    """
    return SPANISH.__getitem__ if name == "es" else str


def translate_move(text: str, translate: Translator) -> str:
    """Return a move, in the game's notation, as it is told in the language."""
    return text if translate is str else SPANISH_MOVES.get(text, text)


def parse_move(text: str, translate: Translator) -> str:
    """Return the move in the game's notation that somebody has written in the language."""
    if translate is str:
        return text
    return {told: known for known, told in SPANISH_MOVES.items()}.get(text.lower(), text)


def json_value(value: Any, *, decided: bool = False) -> Any:
    """Return what is to be JSON with the infinities, which JSON lacks, as text.

    decided: values that decide a game become their utilities.
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
    """Write a value of a search as the lecture notes do: WIN or LOSS where the game is decided."""
    if abs(value) == inf:
        return "∞" if value > 0 else "-∞"
    if abs(value) == BELOW_INFINITY:
        return "∞-" if value > 0 else "-∞+"
    decides = utility(value)
    if decides is not None:
        return format_outcome(decides, translate)
    return f"{value + 0.0:.{digits}g}"  # the sum makes -0.0 a plain 0


def format_outcome(utility: float, translate: Translator) -> str:
    """Write the utility of a win or a loss, which is no evaluation however small it is."""
    word = translate("WIN" if utility > 0 else "LOSS")
    return word if abs(utility) == 1 else f"{word} {utility:.4g}"


def format_window(alpha: float, beta: float, translate: Translator = str) -> str:
    """Write a window; a null window as the bound that is asked about and what is next to it."""
    is_null = alpha != beta and nextafter(alpha, inf) == beta
    low, high = format_value(alpha, translate=translate), format_value(beta, translate=translate)
    if is_null and len(repr(alpha)) <= len(repr(beta)):
        return f"({low}, {low}+)"
    return f"({high}-, {high})" if is_null else f"({low}, {high})"


def format_label(path: tuple[Any, ...]) -> str:
    """Write a node's label in Dewey's notation; ε is the root."""
    return ".".join(map(str, path)) or "ε"
