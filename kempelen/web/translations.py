"""Spanish translations of the server's error messages.

Errors are raised in English, and translated when they are sent to the visitor.
"""

from __future__ import annotations

from agent.io.message_catalog import MessageCatalog

SPANISH = {
    # Server.
    "Not Found": "No existe esa página.",
    "Method Not Allowed": "Método no permitido.",
    "sign in with your token": "Entre con su clave.",
    "missing token": "Falta la clave.",
    "wrong token": "Clave incorrecta.",
    "too many wrong tokens from your address; wait a minute": (
        "Demasiadas claves incorrectas desde su dirección; espere un minuto."
    ),
    "too many sessions from your address": "Hay demasiadas sesiones desde su dirección.",
    "too many clients are waiting for authorization": (
        "Hay demasiados clientes a la espera de autorización."
    ),
    "too many sessions; try again later": "Hay demasiadas sesiones; pruebe más tarde.",
    "too many sessions with your token": "Hay demasiadas sesiones con su clave.",
    "too many requests; try again later": "Demasiadas peticiones; pruebe más tarde.",
    "too many uploads; try again in a minute": (
        "Se están recibiendo demasiados archivos; vuelva a intentarlo en un minuto."
    ),
    "too many requests at once; try again later": (
        "Demasiadas peticiones a la vez; pruebe más tarde."
    ),
    "request too large (at most {} bytes)": "Petición demasiado grande (como máximo {} bytes).",
    "host name not allowed; use the server's IP address or localhost": (
        "Nombre de servidor no permitido; use su dirección IP o localhost."
    ),
    "requests from this origin are not allowed": "No se permiten peticiones desde ese origen.",
    "the server is shutting down": "El servidor se está cerrando.",
    "internal server error; see the server log": (
        "Error interno del servidor; consulte el registro del servidor."
    ),
    "session timed out; reload the page": "La sesión ha caducado; vuelva a cargar la página.",
    "invalid request (expected a JSON object)": "Petición no válida (se espera un objeto JSON).",
    "tournament or game not found": "No se ha encontrado ese torneo o esa partida.",
    "page not found": "No existe esa página.",
    # Forms.
    "{}: invalid value (expected one of: {})": "{}: valor no válido (se espera uno de: {})",
    "{}: must be a number from {} to {}": "{}: debe ser un número de {} a {}",
    "{}: must be a number from {} to {}, or WIDTHxHEIGHT such as 9x13": (
        "{}: debe ser un número de {} a {}, o COLUMNASxFILAS, como 9x13"
    ),
    "{}: must be true or false": "{}: debe ser true o false",
    "{}: must be text of at most {} characters": (
        "{}: debe ser un texto de {} caracteres como máximo"
    ),
    "options: must be an object": "opciones: debe ser un objeto",
    "options: {} has no option {}": "opciones: {} no tiene la opción {}",
    "game": "juego",
    "side": "color o turno",
    "opponent": "rival",
    "level": "nivel",
    "algorithm": "algoritmo",
    "evaluation": "evaluación",
    "seconds": "segundos",
    "base": "tiempo inicial",
    "increment": "incremento",
    "handicap": "ventaja",
    "rules": "reglas",
    "size": "tamaño",
    "width": "columnas",
    "height": "filas",
    "counters": "fichas",
    "target": "puntos para ganar",
    "game {}: {}": "juego {}: {}",
    "handicap: {} stones do not fit on a board of size {}": (
        "ventaja: {} piedras no caben en un tablero de tamaño {}"
    ),
    "too many saved games (at most {})": "Hay demasiadas partidas guardadas (como máximo {}).",
    "game not found": "No existe esa partida.",
    "this game is no longer available": "Esta partida ya no está disponible.",
    # Chess positions. Most of these messages come from the package chess.
    "position: {}": "posición: {}",
    "illegal position": "no es legal",
    "the game is already over": "la partida ya ha terminado",
    "empty fen": "el FEN está vacío",
    "expected position part of fen, got multiple parts: {}": "sobran partes en el FEN {}",
    "expected 8 rows in position part of fen: {}": "el FEN no tiene 8 filas: {}",
    "expected 8 columns per row in position part of fen: {}": (
        "alguna fila del FEN no tiene 8 columnas: {}"
    ),
    "two subsequent digits in position part of fen: {}": "hay dos cifras seguidas en el FEN {}",
    "'~' not after piece in position part of fen: {}": "«~» no va tras una pieza en el FEN {}",
    "invalid character in position part of fen: {}": "hay un carácter no válido en el FEN {}",
    "expected 'w' or 'b' for turn part of fen: {}": "el turno del FEN no es «w» ni «b»: {}",
    "invalid castling part in fen: {}": "los enroques del FEN no son válidos: {}",
    "invalid en passant part in fen: {}": "la casilla al paso del FEN no es válida: {}",
    "invalid half-move clock in fen: {}": "la cuenta de las 50 jugadas del FEN no es válida: {}",
    "half-move clock cannot be negative: {}": (
        "la cuenta de las 50 jugadas del FEN es negativa: {}"
    ),
    "invalid fullmove number in fen: {}": "el número de jugada del FEN no es válido: {}",
    "fullmove number cannot be negative: {}": "el número de jugada del FEN es negativo: {}",
    "fen string has more parts than expected: {}": "sobran partes en el FEN {}",
    # Games in progress.
    "illegal move": "Jugada ilegal.",
    "illegal move {}": "jugada ilegal {}",
    "it is not your turn": "No le toca jugar.",
    "the game is over": "La partida ha terminado.",
    "the move was for an earlier position": "La jugada era para una posición anterior.",
    "no move to take back": "No hay ninguna jugada que retirar.",
    "unknown action": "Acción desconocida.",
    "invalid move (expected text of at most 200 characters)": (
        "Jugada no válida (se espera un texto de 200 caracteres como máximo)."
    ),
    "{} made an illegal move: {}": "{} ha hecho una jugada ilegal: {}",
    "too many games in progress; try again later": (
        "hay demasiadas partidas en curso; pruebe más tarde"
    ),
    "too many of your games are in progress; try again later": (
        "usted tiene demasiadas partidas en curso; pruebe más tarde"
    ),
    "no longer available; start another game": "ya no está disponible; empiece otra partida",
    # Opponents.
    "{}: {}": "{}: {}",
    "no {} within {} s": "no ha dado {} en {} s",
    "the engine closed its output": "el motor ha cerrado su salida",
    "closed its output": "ha cerrado su salida",
    "was killed by signal {}": "lo ha terminado la señal {}",
    "ended with status {}": "ha terminado con el código {}",
    "internal error: {}": "error interno: {}",
    # Analysis.
    "missing study, ply or move": "Falta study, ply o move.",
    "kind: must be look, stop, review or cancel": "kind: debe ser look, stop, review o cancel",
    "ply, look: must be valid numbers": "ply, look: deben ser números válidos",
    "nodes: must be at least 1": "nodes: debe ser al menos 1",
    "missing study": "falta study",
    "game: must be chess or go": "juego: debe ser chess o go",
    "moves: must be a list of at most {} moves": ("jugadas: debe ser una lista de {} como máximo"),
    "game too long (at most {} moves)": "Partida demasiado larga (como máximo {} jugadas).",
    "start: must be a FEN": "start: debe ser un FEN",
    "illegal position ({})": "posición ilegal ({})",
    "null moves are not allowed": "No se admiten jugadas nulas.",
    "query: must be a game of Go": "query: debe ser una partida de go",
    "missing game or review": "falta la partida o su análisis",
    "the review does not match the game": "el análisis no corresponde a la partida",
    "no input (expected PGN, SGF or FEN)": "No hay texto (se espera PGN, SGF o FEN).",
    "text too long (at most {} characters); use kempelen analyse FILE": (
        "Texto demasiado largo (como máximo {} caracteres); use kempelen analyse ARCHIVO."
    ),
    "invalid point (not on the board)": "Punto no válido (no está en el tablero).",
    "{}: game {} ({}): {}": "{}: partida {} ({}): {}",
    "{}: game {}: {}": "{}: partida {}: {}",
    "illegal san: {} in {}": "la jugada {} no es legal en {}",
    "invalid san: {}": "{} no es una jugada",
    "ambiguous san: {} in {}": "la jugada {} es ambigua en {}",
    "illegal uci: {} in {}": "la jugada {} no es legal en {}",
    "invalid uci: {}": "{} no es una jugada",
    "expected uci string to be of length 4 or 5: {}": "una jugada tiene 4 o 5 letras: {}",
    "a board of size {}": "un tablero de tamaño {}",
    "a komi of {}": "un komi de {}",
    "Illegal move {}: {}": "la jugada {}, {}, no es legal",
    "Illegal stones: {}": "las piedras no pueden estar así: {}",
    "Could not parse player: {}": "no es un jugador: {}",
    "Could not parse board location: {}": "no es un punto del tablero: {}",
    "Could not parse rules: {}": "no son reglas: {}",
    # Tournaments.
    "could not replay game {}: {}": "no se pudo reproducir la partida {}: {}",
    "only built-in games can be replayed from a broker": (
        "de un bróker solo se pueden reproducir los juegos incluidos"
    ),
    "option {} out of range": "opción {} fuera de rango",
    "ledger {}: {}": "registro {}: {}",
    "broker {}: {}": "bróker {}: {}",
    # Pages of the lab.
    "server busy; try again in a minute": ("Servidor ocupado; vuelva a intentarlo en un minuto."),
    "Max number of fields exceeded": "El formulario tiene demasiados campos.",
    "board size must be even and at least 4 (got {})": (
        "el tamaño del tablero debe ser par y al menos 4 (es {})"
    ),
    "engine command {}: program not found or not executable": (
        "la orden {}: el programa no existe o no se puede ejecutar"
    ),
    "the engine rejects {}: {}": "el motor rechaza {}: {}",
    "the engine reports an error: {}": "el motor comunica un error: {}",
    "protocol error of the engine: {}": "error de protocolo del motor: {}",
    "the engine must be idle (state: {})": "el motor no está libre (estado: {})",
    "the engine is closed": "el motor está cerrado",
    "the engine was closed": "se ha cerrado el motor",
    "illegal start position ({})": "la posición inicial no es legal ({})",
    "PGN: no chess game with moves found": "PGN: no hay ninguna partida de ajedrez con jugadas.",
    "SGF: no game of Go with moves found": "SGF: no hay ninguna partida de go con jugadas.",
    "invalid PGN ({})": "el PGN no es válido ({})",
    "unsupported variant {}": "no se admite la variante {}",
    "unsupported board size {} (must be {} to {} columns and rows)": (
        "no se admite el tamaño {} (debe tener de {} a {} columnas y filas)"
    ),
    "unsupported komi {} (must be integer or half-integer, from {} to {})": (
        "no se admite el komi {} (debe ser entero o medio, de {} a {})"
    ),
    "invalid SGF": "no es un SGF válido",
    "invalid komi {} (must be below {})": "komi {} no válido (debe ser menor que {})",
    "a point is outside the board of {}x{}": "un punto está fuera del tablero de {}x{}",
    "Too many moves: {} (maximum {})": "Demasiadas jugadas: {} (como mucho {})",
    "No legal move remains to analyse": "no queda ninguna jugada legal que analizar",
}
# Longer texts are not messages of this server.
MAX_LENGTH = 400

_CATALOGS = {"es": MessageCatalog(SPANISH)}


def translate(message: str, language: str) -> str:
    """Return a message in the visitor's language, or unchanged if it has no translation."""
    catalog = _CATALOGS.get(language)
    if catalog is None or len(message) > MAX_LENGTH:
        return message
    return catalog.translate(message)
