"""The words that people see, in English or in the Spanish of the lecture notes."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from math import inf, nextafter
from typing import Any

Say = Callable[[str], str]

SPANISH = {
    "algorithm": "algoritmo",
    "algorithms": "algoritmos",
    "all alike": "todos iguales",
    "alpha": "alfa",
    "and then": "y después",
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
    "expand": "expande",
    "false": "FALSO",
    "first": "primero",
    "from memory": "de la memoria",
    "leaf": "hoja",
    "leaves": "hojas",
    "loses": "pierde",
    "mean": "media",
    "memory": "memoria",
    "minimax tree": "árbol minimax",
    "more": "más",
    "move": "jugada",
    "moves": "jugadas",
    "node": "nodo",
    "nodes": "nodos",
    "not visited": "sin visitar",
    "nodes of the strategy": "nodos de la estrategia",
    "order of visits": "orden de visita",
    "player": "jugador",
    "playout": "simulación",
    "playouts": "simulaciones",
    "position": "posición",
    "positions": "posiciones",
    "positions solved": "posiciones resueltas",
    "principal variation": "variante principal",
    "re-searches": "rebúsquedas",
    "result": "resultado",
    "return": "devuelve",
    "reward": "recompensa",
    "same move": "misma jugada",
    "same value": "mismo valor",
    "second": "segundo",
    "select": "selecciona",
    "simulate": "simula",
    "solved leaves": "hojas resueltas",
    "step": "paso",
    "stopped": "detenido",
    "strategy": "estrategia",
    "table hits": "aciertos en tabla",
    "test": "prueba",
    "the first player": "el primer jugador",
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


def configure(parser: ArgumentParser) -> None:
    """Declare the language."""
    parser.add_argument(
        "--lang", choices=("en", "es"), default="en", help="the language of labels (default: en)"
    )


def language(name: str) -> Say:
    """Return what says an English label in the language of that name.

    Raises KeyError for a label that has no Spanish.
    """
    return SPANISH.__getitem__ if name == "es" else str


def number(value: float, digits: int = 4) -> str:
    """Write a value as the lecture notes do."""
    if abs(value) == inf:
        return "∞" if value > 0 else "-∞"
    return f"{value + 0.0:.{digits}g}"  # the sum makes -0.0 a plain 0


def window(alpha: float, beta: float) -> str:
    """Write a window; a null window as the bound that is asked about and what is next to it."""
    if alpha != beta and nextafter(alpha, inf) == beta:
        if len(repr(alpha)) <= len(repr(beta)):
            return f"({number(alpha)}, {number(alpha)}+)"
        return f"({number(beta)}-, {number(beta)})"
    return f"({number(alpha)}, {number(beta)})"


def label(path: tuple[Any, ...]) -> str:
    """Write a node's label in Dewey's notation; ε is the root."""
    return ".".join(map(str, path)) or "ε"
