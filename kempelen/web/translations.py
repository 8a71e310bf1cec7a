"""What goes wrong, in the visitor's language.

All is raised in English, and translated as it is told, where the visitor's language is known. Why
a channel is closed is said by the page's own words (static/words): there is little room for it.
"""

from __future__ import annotations

from agent.io.message_catalog import MessageCatalog

SPANISH = {
    # The server.
    "Not Found": "No existe esa página.",
    "Method Not Allowed": "Eso no se puede pedir así.",
    "sign in with your token": "Entre con su clave.",
    "a token is expected": "Hace falta una clave.",
    "wrong token": "Clave incorrecta.",
    "too many wrong tokens from your address; wait a minute": (
        "Demasiadas claves incorrectas desde su dirección; espere un minuto."
    ),
    "too many sessions from your address": "Hay demasiadas sesiones desde su dirección.",
    "too many clients wait to be let in": "Demasiados visitantes esperan para entrar.",
    "too many sessions; try again later": "Hay demasiadas sesiones; pruebe más tarde.",
    "too many sessions with your token": "Hay demasiadas sesiones con su clave.",
    "too many requests; wait a little": "Demasiadas peticiones; espere un poco.",
    "too much is being read; try again in a minute": (
        "Se está leyendo demasiado; vuelva a intentarlo en un minuto."
    ),
    "too much is asked for at once; wait a little": ("Se pide demasiado a la vez; espere un poco."),
    "at most {} bytes are read": "Se leen como mucho {} bytes.",
    "use the address of this server, not a name that leads here": (
        "Use la dirección de este servidor, no un nombre que lleve a él."
    ),
    "pages of your origin may not use this server": (
        "Las páginas de ese origen no pueden usar este servidor."
    ),
    "the server ends": "El servidor se está cerrando.",
    "the server failed; its log says how": "El servidor ha fallado; su registro dice cómo.",
    "this page was open for too long; load it again": (
        "Esta página ha estado abierta demasiado tiempo; vuelva a cargarla."
    ),
    "an object of JSON is expected": "se espera un objeto de JSON",
    "there is no such thing": "Eso no existe.",
    "there is no such page": "No existe esa página.",
    # What is asked for in a form.
    "{}: one of {} is expected": "{}: se espera uno de {}",
    "{}: a number from {} to {} is expected": "{}: se espera un número de {} a {}",
    "{}: a number from {} to {} is expected, or WIDTHxHEIGHT such as 9x13": (
        "{}: se espera un número de {} a {}, o COLUMNASxFILAS, como 9x13"
    ),
    "{}: true or false is expected": "{}: se espera true o false",
    "{}: a text of at most {} characters is expected": (
        "{}: se espera un texto de {} caracteres como mucho"
    ),
    "options: an object is expected": "opciones: se espera un objeto",
    "options: {} has none to choose called {}": "opciones: {} no tiene ninguna que se llame {}",
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
    "a board of size {} cannot be; use an even size from 4": (
        "no hay tableros de tamaño {}; use un tamaño par desde 4"
    ),
    "a board of size {} has no room for {} stones": (
        "en un tablero de tamaño {} no caben {} piedras"
    ),
    "{} games are kept already; no more are": "Ya se guardan {} partidas; no caben más.",
    "there is no such game": "No existe esa partida.",
    "this game cannot be played here any more": "Esta partida ya no se puede jugar aquí.",
    # Positions of chess, most in the words of the package chess.
    "position: {}": "posición: {}",
    "it cannot come up in a game": "no puede darse en una partida",
    "the game is over in it": "la partida ya ha terminado en ella",
    "empty fen": "el FEN está vacío",
    "expected position part of fen, got multiple parts: {}": "sobran partes en el FEN {}",
    "expected 8 rows in position part of fen: {}": "el FEN no tiene 8 filas: {}",
    "expected 8 columns per row in position part of fen: {}": (
        "alguna fila del FEN no tiene 8 columnas: {}"
    ),
    "two subsequent digits in position part of fen: {}": "hay dos cifras seguidas en el FEN {}",
    "'~' not after piece in position part of fen: {}": "«~» no va tras una pieza en el FEN {}",
    "invalid character in position part of fen: {}": "hay un carácter que no vale en el FEN {}",
    "expected 'w' or 'b' for turn part of fen: {}": "el turno del FEN no es «w» ni «b»: {}",
    "invalid castling part in fen: {}": "los enroques del FEN no valen: {}",
    "invalid en passant part in fen: {}": "la casilla al paso del FEN no vale: {}",
    "invalid half-move clock in fen: {}": "la cuenta de las 50 jugadas del FEN no vale: {}",
    "half-move clock cannot be negative: {}": (
        "la cuenta de las 50 jugadas del FEN es negativa: {}"
    ),
    "invalid fullmove number in fen: {}": "el número de jugada del FEN no vale: {}",
    "fullmove number cannot be negative: {}": "el número de jugada del FEN es negativo: {}",
    "fen string has more parts than expected: {}": "sobran partes en el FEN {}",
    # A game that is played.
    "that is no legal move": "Esa jugada no es legal.",
    "{} is no legal move": "{} no es una jugada legal",
    "it is not your turn": "No le toca jugar.",
    "the game is over": "La partida ha terminado.",
    "that move was for another position": "Esa jugada era para otra posición.",
    "there is no move of yours to take back": "No hay ninguna jugada suya que retirar.",
    "that cannot be done here": "Eso no se puede hacer aquí.",
    "a move is a short text": "Una jugada es un texto corto.",
    "{} played {}": "{} ha jugado {}, que no es legal",
    "too many games are played here now; try again later": (
        "ahora se juegan aquí demasiadas partidas; pruebe más tarde"
    ),
    "too many games of yours are played here now; try again later": (
        "ahora juega usted aquí demasiadas partidas; pruebe más tarde"
    ),
    "it is not offered here any more; begin another game": (
        "aquí ya no se ofrece; empiece otra partida"
    ),
    # Opponents.
    "{}: {}": "{}: {}",
    "no {} within {} s": "no ha dado {} en {} s",
    "engine command {} names no program that can be run": (
        "la orden {} no es de ningún programa que se pueda ejecutar"
    ),
    "the engine refuses {}: {}": "el motor rechaza {}: {}",
    "the engine says: {}": "el motor dice: {}",
    "the engine closed its output": "el motor ha cerrado su salida",
    "the engine does not keep to its protocol: {}": "el motor no sigue su protocolo: {}",
    "the engine is {}, not idle": "el motor está {}, no libre",
    "closed its output": "ha cerrado su salida",
    "was killed by signal {}": "lo ha terminado la señal {}",
    "ended with status {}": "ha terminado con el código {}",
    "the agent is closed": "el agente está cerrado",
    "the agent was closed": "se ha cerrado el agente",
    "internal error: {}": "error interno: {}",
    # What is analysed.
    "study, ply and move are needed": "Hacen falta una partida, un número y una jugada.",
    "look, stop, review or cancel is expected": "se espera look, stop, review o cancel",
    "ply and look are numbers": "ply y look son números",
    "nodes is a number from 1": "nodes es un número a partir de 1",
    "a study is needed": "hace falta una partida",
    "chess and Go are analysed": "se analizan ajedrez y go",
    "a list of at most {} moves is needed": "hace falta una lista de {} jugadas como mucho",
    "at most {} moves are analysed": "Se analizan como mucho {} jugadas.",
    "a position is a FEN": "una posición es un FEN",
    "that position is not legal ({})": "esa posición no es legal ({})",
    "it begins at a position that is not legal ({})": (
        "empieza en una posición que no es legal ({})"
    ),
    "a null move is in no game": "Ninguna partida tiene una jugada nula.",
    "a null move, which no game has": "una jugada nula, que ninguna partida tiene",
    "a game of Go is needed": "hace falta una partida de go",
    "a game and its review are needed": "hacen falta una partida y su análisis",
    "that review is of another game": "ese análisis es de otra partida",
    "nothing was given: a PGN, an SGF or a FEN is needed": (
        "No hay nada: hace falta un PGN, un SGF o un FEN."
    ),
    "at most {} letters are read here; kempelen analyse FILE takes more": (
        "Aquí se leen como mucho {} letras; kempelen analyse ARCHIVO admite más."
    ),
    "that is no point of the board": "Ese punto no está en el tablero.",
    "PGN: there is no game of chess with a move in it": (
        "PGN: no hay ninguna partida de ajedrez con jugadas."
    ),
    "SGF: there is no game of Go with a move in it": (
        "SGF: no hay ninguna partida de go con jugadas."
    ),
    "{}: game {} ({}): {}": "{}: partida {} ({}): {}",
    "{}: game {}: {}": "{}: partida {}: {}",
    "it cannot be read ({})": "no se puede leer ({})",
    "the variant {} is not played here": "la variante {} no se juega aquí",
    "illegal san: {} in {}": "la jugada {} no es legal en {}",
    "invalid san: {}": "{} no es una jugada",
    "ambiguous san: {} in {}": "la jugada {} es ambigua en {}",
    "illegal uci: {} in {}": "la jugada {} no es legal en {}",
    "invalid uci: {}": "{} no es una jugada",
    "expected uci string to be of length 4 or 5: {}": "una jugada tiene 4 o 5 letras: {}",
    "it is no SGF": "no es SGF",
    "a board of size {}": "un tablero de tamaño {}",
    "a komi of {}": "un komi de {}",
    "Illegal move {}: {}": "la jugada {}, {}, no es legal",
    "Illegal stones: {}": "las piedras no pueden estar así: {}",
    "a point beyond the board of {}x{}": "un punto fuera del tablero de {}x{}",
    "Could not parse player: {}": "no es un jugador: {}",
    "Could not parse board location: {}": "no es un punto del tablero: {}",
    "Could not parse rules: {}": "no son reglas: {}",
    "A record of {} moves is too long; at most {}": "{} jugadas son demasiadas; como mucho {}",
    "No legal move is left to analyse": "no queda ninguna jugada legal que analizar",
    # What is watched.
    "game {} cannot be shown: {}": "la partida {} no se puede mostrar: {}",
    "only games of the catalogue are replayed from a broker": (
        "de un intermediario solo se reproducen juegos del catálogo"
    ),
    "its option {} is not within bounds": "su opción {} está fuera de los límites",
    "ledger {}: {}": "registro {}: {}",
    "broker {}: {}": "intermediario {}: {}",
    # Pages of steps.
    "too many pages are being made: try again in a minute": (
        "Se están haciendo demasiadas páginas: vuelva a intentarlo en un minuto."
    ),
    "Max number of fields exceeded": "El formulario tiene demasiados campos.",
}
# Longer ones are no messages of ours.
MAX_LENGTH = 400

_PHRASEBOOKS = {"es": MessageCatalog(SPANISH)}


def translate(message: str, language: str) -> str:
    """Return a message in a visitor's language; unchanged if it is not known in it."""
    book = _PHRASEBOOKS.get(language)
    return message if book is None or len(message) > MAX_LENGTH else book.translate(message)
