"""English and Spanish sentences that describe search steps, with numbered placeholders."""

from __future__ import annotations

SENTENCES: dict[str, tuple[str, str]] = {
    "enter-window": (
        "Enter {1}, {0}, with α = {2} and β = {3}.",
        "Entra en {1}, {0}, con α = {2} y β = {3}.",
    ),
    "again-window": (
        "Search {1}, {0}, again with α = {2} and β = {3}.",
        "Busca {1}, {0}, otra vez con α = {2} y β = {3}.",
    ),
    "null-window": (
        "Only test {1}, {0}, with the null window from {2} to {3}.",
        "Solo prueba {1}, {0}, con la ventana nula de {2} a {3}.",
    ),
    "enter-plain": ("Enter {1}, {0}.", "Entra en {1}, {0}."),
    "again-plain": ("Enter {1}, {0}, again.", "Entra en {1}, {0}, de nuevo."),
    "test": ("TEST {1}: is it {2} {3}?", "TEST {1}: ¿es {2} {3}?"),
    "pass": ("Let the mover pass at {0}.", "Quien mueve pasa en {0}."),
    "new-pass": (
        "Pass {0}: is the value at least {1}?",
        "Pasada {0}: ¿es el valor al menos {1}?",
    ),
    "expand": ("Expand {0}.", "Expande {0}."),
    "evaluate": ("{0} is a leaf with value {1}.", "{0} es una hoja de valor {1}."),
    "remember": (
        "{0} is already in the memory: {1}.",
        "{0} ya está en la memoria: {1}.",
    ),
    "shared": ("It is the same position as {0}.", "Es la misma posición que {0}."),
    "return": ("{0} returns {1}.", "{0} devuelve {1}."),
    "yes": ("{0}: yes.", "{0}: sí."),
    "no": ("{0}: no.", "{0}: no."),
    "best": ("{0} has {1} so far.", "{0} tiene {1} hasta ahora."),
    "sum": ("The sum at {0} is {1} so far.", "La suma en {0} es {1} hasta ahora."),
    "alpha": ("α of {0} rises to {1}.", "α de {0} sube a {1}."),
    "beta": ("β of {0} falls to {1}.", "β de {0} baja a {1}."),
    "cut": (
        "Cut-off at {0}, because of {1}: {2} more moves are skipped.",
        "Poda en {0}, por {1}: se omiten {2} jugadas más.",
    ),
    "cut-one": (
        "Cut-off at {0}, because of {1}: 1 more move is skipped.",
        "Poda en {0}, por {1}: se omite 1 jugada más.",
    ),
    "cut-last": (
        "The bound is met at {0}, by {1}; no move was left to cut off.",
        "Se alcanza la cota en {0}, por {1}; no quedaba jugada que podar.",
    ),
    "cut-why": ("α = {0} ≥ β = {1}.", "α = {0} ≥ β = {1}."),
    "anew": (
        "Restart: a win now counts {0}.",
        "Empieza de nuevo: ahora ganar cuenta {0}.",
    ),
    "store": ("The memory stores {0}: {1}.", "La memoria guarda {0}: {1}."),
    "guess": (
        "Guess {0}: which of {1} moves reach it?",
        "Supone {0}: ¿cuáles de {1} jugadas lo alcanzan?",
    ),
    "bounds": ("{0} lies in [{1}, {2}].", "{0} está en [{1}, {2}]."),
    "closer": ("The bounds of {0} nodes are narrowed.", "Las cotas de {0} nodos se estrechan."),
    "list": (
        "The list begins with {0}, live, and the bound {1}.",
        "La lista empieza con {0}, vivo, y la cota {1}.",
    ),
    "leaf": (
        "{0} is live and a leaf: it is solved with {1}.",
        "{0} está vivo y es hoja: queda solucionado con {1}.",
    ),
    "all": (
        "{0} is live: all its children go into the list.",
        "{0} está vivo: todos sus hijos entran en la lista.",
    ),
    "first": (
        "{0} is live: its first child goes into the list.",
        "{0} está vivo: su primer hijo entra en la lista.",
    ),
    "parent": (
        "{0} is solved, so its parent is solved; all other states below the parent leave the list.",
        "{0} está solucionado, y con él su padre; salen de la lista los demás estados bajo él.",
    ),
    "next": (
        "{0} is solved: its next sibling goes into the list.",
        "{0} está solucionado: su siguiente hermano entra en la lista.",
    ),
    "last": (
        "{0} is solved and the last child, so its parent is solved.",
        "{0} está solucionado y es el último hijo: también su padre.",
    ),
    "solved": ("The root is solved: {0}.", "La raíz está solucionada: {0}."),
    "select": (
        "Selection: from {0} to {1}, whose upper bound {2} is greatest.",
        "Selección: de {0} a {1}, cuya cota superior {2} es la mayor.",
    ),
    "untried": (
        "Selection: from {0} to {1}, which has not been tried yet.",
        "Selección: de {0} a {1}, que aún no se ha probado.",
    ),
    "grow": ("Expansion: {0} is added to the tree.", "Expansión: {0} se añade al árbol."),
    "simulate": (
        "Simulation: {1} moves from {0}; MAX's reward is {2}.",
        "Simulación: {1} jugadas desde {0}; la recompensa de MAX es {2}.",
    ),
    "judge": (
        "The evaluation scores {0}; MAX's reward is {1}.",
        "La evaluación puntúa {0}; la recompensa de MAX es {1}.",
    ),
    "backup": (
        "Backpropagation: update N and W of {0} nodes, up to the root.",
        "Retropropagación: actualiza N y W de {0} nodos, hasta la raíz.",
    ),
    "own-tree": (
        "Save it as tree.yaml, then run: {0}",
        "Guárdelo como tree.yaml y ejecute: {0}",
    ),
    "done": ("The search ends.", "La búsqueda termina."),
    "stopped": ("A limit has stopped the search.", "Un límite ha detenido la búsqueda."),
}

# Spanish translations of words in table cells, and of labels of the page.
WORDS: dict[str, str] = {
    "WIN": "GANA",
    "LOSS": "PIERDE",
    "chance": "azar",
    "roll": "tirar",
    "hold": "plantarse",
    "pass": "pasar",
    "live": "vivo",
    "solved": "solucionado",
    "node": "nodo",
    "state": "estado",
    "bound": "cota",
    "window": "ventana",
    "depth": "profundidad",
    "value": "valor",
    "move": "jugada",
    "nodes": "nodos",
    "leaves": "hojas",
    "cut-offs": "podas",
    "re-searches": "rebúsquedas",
    "table hits": "aciertos en tabla",
    "playouts": "simulaciones",
    "stack": "pila",
    "open": "LISTA",
    "memory": "memoria",
    "children": "hijos",
    "step": "paso",
    "steps": "pasos",
    "theory": "teoría",
    "all leaves": "todas las hojas",
    "least leaves": "mínimo de hojas",
    "branching": "ramificación",
    "start": "inicio",
    "back": "atrás",
    "forward": "adelante",
    "next cut": "siguiente poda",
    "next change of a value": "siguiente cambio de valor",
    "end": "final",
    "play": "marcha",
    "pause": "pausa",
    "fit": "todo",
    "zoom in": "acercar",
    "zoom out": "alejar",
    "follow": "seguir",
    "boards": "tableros",
    "fold": "plegar",
    "unfold all": "desplegar todo",
    "what happens": "qué ocurre",
    "counts": "cuentas",
    "pseudo-code": "pseudocódigo",
    "language": "idioma",
    "keys": "teclas",
    "the tree": "el árbol",
    "own tree": "árbol propio",
    "your own tree": "su propio árbol",
    "add a child": "añadir hijo",
    "remove": "quitar",
    "name": "nombre",
    "lower bound": "cota inferior",
    "upper bound": "cota superior",
    "save as YAML": "guardar como YAML",
    "search this tree": "buscar en este árbol",
    "random": "al azar",
    "close": "cerrar",
    "nothing yet": "nada todavía",
    "speed": "velocidad",
}

HELP = {
    "en": (
        "→ forward, ← back, c next cut-off, v next change of a value, Home start, End the end, "
        "space play or pause, + and - zoom, 0 fit, f follow, b boards, Enter fold the node"
    ),
    "es": (
        "→ adelante, ← atrás, c siguiente poda, v siguiente cambio de valor, Inicio, Fin, espacio "
        "marcha o pausa, + y - acercar y alejar, 0 todo, f seguir, b tableros, Intro plegar el nodo"
    ),
}


def translations() -> dict[str, dict[str, dict[str, str]]]:
    """Return all texts by language, in the format that the page's scripts use."""
    return {
        "en": {
            "sentences": {key: pair[0] for key, pair in SENTENCES.items()},
            "words": {},
            "help": {"keys": HELP["en"]},
        },
        "es": {
            "sentences": {key: pair[1] for key, pair in SENTENCES.items()},
            "words": dict(WORDS),
            "help": {"keys": HELP["es"]},
        },
    }
