"""Spanish translations of error messages and help texts."""

from __future__ import annotations

import errno
import os
from functools import cache

from agent.io.message_catalog import MessageCatalog

SPANISH = {
    # Errors of algorithms and games.
    "heap sizes must be at least 0 (got {})": "los montones deben tener al menos 0 fichas (hay {})",
    "{}: option {} must be {}": "{}: la opción {} debe ser {}",
    "--tree: a tree from a file has neither --size nor --option": (
        "--tree: un árbol de un fichero no tiene ni --size ni --option"
    ),
    "a value above 0": "un valor mayor que 0",
    "one of {}": "una de {}",
    "a number": "un número",
    "{}: {} has no patterns": "{}: {} no tiene patrones",
    "odd": "impar",
    "even": "par",
    "{}: games of chance are not supported by lab play": "{}: lab play no admite juegos de azar",
    "--algorithm: {} algorithms (expected one or two)": (
        "--algorithm: {} algoritmos (se esperaban uno o dos)"
    ),
    "experience {}: {}": "experiencia {}: {}",
    "file is not a database": "no es una base de datos",
    "database is locked": "la base de datos está en uso",
    "database disk image is malformed": "la base de datos está dañada",
    "{} cannot be read: {}": "{} no se puede leer: {}",
    "{} cannot be locked: {}": "{} no se puede bloquear: {}",
    "game {}: {}": "juego {}: {}",
    "game {} has no --size": "el juego {} no tiene --size",
    "none": "ninguna",
    "missing a required argument: {}": "falta un argumento necesario: {}",
    "got an unexpected keyword argument {}": "ha recibido un argumento que no conoce: {}",
    "too many positional arguments": "demasiados argumentos",
    "expected a size from {} to {}, or WIDTHxHEIGHT such as 9x13, not {}": (
        "se espera un tamaño de {} a {}, o ANCHOxALTO, como 9x13, y no {}"
    ),
    "{} is not empty": "{} no está vacío",
    "a stone on {} leaves a chain without liberties": (
        "una piedra en {} deja una cadena sin libertades"
    ),
    "{}: {}": "{}: {}",
    "tree: too long (at most {} characters)": "árbol: demasiado largo (como mucho {} caracteres)",
    "unknown game or algorithm": "juego o algoritmo desconocido",
    "{}: does not support {}": "{}: no admite {}",
    "depth: must be from {} to {}": "profundidad: debe estar entre {} y {}",
    # Errors in user code.
    "evaluation {} failed: {}": "la evaluación {} ha fallado: {}",
    # Errors in training.
    "evaluation learned:{}: {}": "evaluación learned:{}: {}",
    "steps, games and neurons: must be at least 1": (
        "pasos, partidas y neuronas: debe haber al menos 1 de cada"
    ),
    "in use by another training process": "en uso por otro proceso que entrena",
    "{} is in use by another training process": "{} está en uso por otro proceso que entrena",
    "{}: was trained on {} (use another file with -o)": (
        "{}: se entrenó con {} (use otro fichero con -o)"
    ),
    "{}: the games contain no training examples": (
        "{}: las partidas no contienen ejemplos de entrenamiento"
    ),
    "{}: not a checkpoint file; {}": "{}: no es un fichero de estado guardado; {}",
    "{}: damaged; remove it to start again": "{}: está dañado; bórrelo para empezar de nuevo",
    "{}: has other settings ({}); {}": "{}: tiene otros ajustes ({}); {}",
    "{} was {}, is {}": "{} era {}, es {}",
    "use another checkpoint, or remove this one": "use otro, o borre este",
    "use another file with -o, or remove this one": "use otro con -o, o borre este",
    "--evaluation: not allowed (lab learn creates an evaluation)": (
        "--evaluation: no se permite (lab learn crea una evaluación)"
    ),
    "values": "valores",
    "priors": "probabilidades",
    "module {} has no attribute {}": "el módulo {} no tiene ningún atributo {}",
    "{} file {} does not exist": "no existe el fichero de {} {}",
    "{} file {} cannot be read: {}": "el fichero de {} {} no se puede leer: {}",
    "{} file {} is not a Python file": "el fichero de {} {} no es un fichero de Python",
    "{} file {}: cannot import {} beside it ('{}' is a package of Kempelen; rename {})": (
        "el fichero de {} {} no puede importar {}, que está a su lado ('{}' es un paquete de "
        "Kempelen; póngale otro nombre a {})"
    ),
    "{} file {} failed: {}": "el fichero de {} {} ha fallado: {}",
    "{} module {} failed: {}": "el módulo de {} {} ha fallado: {}",
    "{} ({}, line {})": "{} ({}, línea {})",
    "evaluation": "evaluación",
    "game": "juego",
    # Errors of the lab.
    "{}: unknown picture format (expected {})": (
        "{}: formato de imagen desconocido (se espera {})"
    ),
    "{}: there is no folder {}": "{}: no hay ninguna carpeta {}",
    "{}: folder {} does not exist": "{}: no existe la carpeta {}",
    "{}: contains {}, which is not allowed in a page": (
        "{}: contiene {}, que no se permite en una página"
    ),
    "{} is not installed: {}": "{} no está instalado: {}",
    "nothing to do (use -o FILE or --json)": "nada que hacer (use -o FICHERO o --json)",
    "trees with branching factor {} and depth {}: cannot be plotted (expected a branching factor "
    "of at least 2 and at most {} leaves)": (
        "árboles de ramificación {} y profundidad {}: no se pueden representar (se espera una "
        "ramificación de al menos 2, y como mucho {} hojas)"
    ),
    "tree: more than {} nodes, too many to draw (use a smaller --depth, a later position with "
    "--moves, or a smaller game with --size)": (
        "árbol: más de {} nodos, demasiados para dibujarlos (use una --depth menor, una posición "
        "posterior con --moves o un juego menor con --size)"
    ),
    "strategy: {} positions, too many to draw (use a smaller game with --size, or a later position "
    "with --moves)": (
        "estrategia: {} posiciones, demasiadas para dibujarlas (use un juego menor con --size o "
        "una posición posterior con --moves)"
    ),
    "{}: games of chance cannot be solved (no strategy always wins)": (
        "{}: los juegos de azar no se pueden resolver (ninguna estrategia gana siempre)"
    ),
    "--symmetry: {} has no symmetries": "--symmetry: {} no tiene simetrías",
    "the search went too deep: use a smaller --depth, a smaller game (--size) or a later "
    "position (--moves)": (
        "la búsqueda ha ido demasiado hondo: use una --depth menor, un juego menor (--size) o una "
        "posición posterior (--moves)"
    ),
    # Errors of exercises.
    "unknown exercise kind {} (expected one of: {})": (
        "tipo de ejercicio desconocido: {} (se esperaba uno de: {})"
    ),
    "exercise {}: must be from {} to {} (got {})": (
        "{} del ejercicio: debe estar entre {} y {} (se ha recibido {})"
    ),
    "depth": "profundidad",
    "branching": "ramificación",
    "seed": "semilla",
    "student": "número de estudiante",
    "number": "número",
    "tree with depth {} and branching factor {}: too many leaves for an exercise (use smaller "
    "values)": (
        "árbol de profundidad {} y ramificación {}: demasiadas hojas para un ejercicio (use "
        "valores menores)"
    ),
    "no {} exercise found on trees with depth {} and branching factor {} (use larger values)": (
        "no se ha hallado ningún ejercicio {} en árboles de profundidad {} y ramificación {} "
        "(use valores mayores)"
    ),
    "{}: not usable for exercises on the order of visits (use an exact algorithm without files, "
    "such as alpha-beta, scout or sss-star)": (
        "{}: no sirve para ejercicios del orden de visita (use un algoritmo exacto sin ficheros, "
        "como alpha-beta, scout o sss-star)"
    ),
    "--answer: {} answers for {} exercises (use --kind or --count for more exercises)": (
        "--answer: {} respuestas para {} ejercicios (pida más ejercicios con --kind o --count)"
    ),
    "--algorithm requires --kind order": "--algorithm requiere --kind order",
    "--count: too many exercises (at most {})": "--count: demasiados ejercicios (como mucho {})",
    "{}: would exceed {} exercises (use another results file)": (
        "{}: tendría más de {} ejercicios (use otro fichero de resultados)"
    ),
    "--results requires answers (use --answer, or answer in the terminal)": (
        "--results requiere respuestas (use --answer, o responda en el terminal)"
    ),
    "answer: too long (at most {} characters)": (
        "respuesta: demasiado larga (como mucho {} caracteres)"
    ),
    "invalid answer {}": "respuesta no válida {}",
    "{} (example: {})": "{} (ejemplo: {})",
    "{}: invalid page name (must end in {})": (
        "{}: nombre de página no válido (debe acabar en {})"
    ),
    "{}: invalid sheet name (must end in {})": "{}: nombre de hoja no válido (debe acabar en {})",
    "{}: cannot read file: {}": "{}: no se puede leer el fichero: {}",
    "{}: invalid results file: {}": "{}: fichero de resultados no válido: {}",
    "--key: {} is also the --sheet file (use another file)": (
        "--key: {} es también el fichero de --sheet (use otro fichero)"
    ),
    "not JSON": "no es JSON",
    "not written by lab exercise": "no lo ha escrito lab exercise",
    "unsupported version": "versión no admitida",
    "name or exercises missing": "faltan el nombre o los ejercicios",
    "more than {} exercises": "más de {} ejercicios",
    "duplicate exercise": "ejercicio repetido",
    "exercise with a missing key": "ejercicio al que le falta una clave",
    "exercise with a value of the wrong type": "ejercicio con un valor de tipo incorrecto",
    "exercise with too many answers, or an answer that is too long": (
        "ejercicio con demasiadas respuestas, o con una respuesta demasiado larga"
    ),
    "expected NAME=VALUE, not {}": "se esperaba NOMBRE=VALOR, no {}",
    "komi is less than {}, not {}": "el komi es menor que {}, no {}",
    "expected a whole number up to {}, not {}": "se espera un número entero hasta {}, no {}",
    "expected a whole number above 0, not {}": "se esperaba un número entero mayor que 0, no {}",
    "expected seconds above 0, not {}": "se esperaban segundos por encima de 0, no {}",
    "expected a number from 0 to {}, not {}": "se esperaba un número de 0 a {}, no {}",
    # Messages of argparse.
    "usage: ": "uso: ",
    "options": "opciones",
    "positional arguments": "argumentos posicionales",
    "show this help message and exit": "muestra esta ayuda y termina",
    "argument {}: {}": "argumento {}: {}",
    "unrecognized arguments: {}": "argumentos que no se reconocen: {}",
    "ambiguous option: {} could match {}": "opción ambigua: {} podría ser {}",
    "invalid choice: {} (choose from {})": "opción no válida: {} (elija entre {})",
    "invalid choice: {}, maybe you meant {}? (choose from {})": (
        "opción no válida: {}, ¿quizá {}? (elija entre {})"
    ),
    "unknown parser {} (choices: {})": "acción desconocida {} (elija entre {})",
    "expected one argument": "se esperaba un argumento",
    "expected at most one argument": "se esperaba un argumento como mucho",
    "expected at least one argument": "se esperaba un argumento al menos",
    "expected {} argument": "se esperaba {} argumento",
    "expected {} arguments": "se esperaban {} argumentos",
    "invalid int value: {}": "no es un número entero: {}",
    "invalid {} value: {}": "valor no válido de {}: {}",
    "the following arguments are required: {}": "faltan estos argumentos: {}",
    "one of the arguments {} is required": "hace falta uno de los argumentos {}",
    "not allowed with argument {}": "no se permite junto al argumento {}",
    "ignored explicit argument {}": "no admite el valor {}",
    # Help texts.
    "study search algorithms: compare, trace, draw, solve": (
        "estudia algoritmos de búsqueda: compara, rastrea, dibuja, resuelve"
    ),
    "play games, and learn from unexpected outcomes with a killer memory": (
        "juega partidas, y aprende de resultados inesperados con una memoria asesina"
    ),
    "players: one algorithm for both sides, or two that alternate sides (default: alpha-beta)": (
        "jugadores: un algoritmo para ambos bandos, o dos que alternan de bando (por defecto: "
        "alpha-beta)"
    ),
    "number of games (default: 1)": "número de partidas (por defecto: 1)",
    "print one JSON object per game": "escribe un objeto JSON por partida",
    "compare algorithms on the same positions": "compara algoritmos en las mismas posiciones",
    "print the steps of an algorithm": "escribe los pasos de un algoritmo",
    "draw the tree that an algorithm searches": "dibuja el árbol que un algoritmo recorre",
    "plot leaves against depth and branching factor, with the theory": (
        "representa las hojas según profundidad y factor de ramificación, con la teoría"
    ),
    "solve a game: its value and how to win": "resuelve un juego: su valor y cómo ganar",
    "create the lecture notes' tables and figures, as one page": (
        "rehace las tablas y figuras de los apuntes, en una página"
    ),
    "write a self-contained page to FILE.html": (
        "escribe en FICHERO.html una página que no necesita nada más"
    ),
    "draw the strategy inside the complete game tree": (
        "dibuja la estrategia dentro del árbol completo del juego"
    ),
    "learn a game by self-play: a network, or weights of features": (
        "aprende un juego jugando consigo mismo: una red, o pesos de características"
    ),
    "train a policy-value network (for alphazero) or feature weights (for any algorithm) "
    "(default: network)": (
        "entrena una red (network) de política y valor, para alphazero, o pesos (weights) de "
        "características, para cualquier algoritmo (por defecto: network)"
    ),
    "output file; FILE.run next to it is the checkpoint to resume from (default: GAME.learned)": (
        "fichero de salida; FICHERO.run, a su lado, guarda el punto desde el que seguir (por "
        "defecto: JUEGO.learned)"
    ),
    "number of self-play and training steps (default: 100, for weights 30)": (
        "número de pasos de juego contra sí mismo y entrenamiento (por defecto: 100, con pesos 30)"
    ),
    "self-play games per step (default: 64)": (
        "partidas contra sí mismo por paso (por defecto: 64)"
    ),
    "playouts per training move (default: 64)": (
        "simulaciones por jugada de entrenamiento (por defecto: 64)"
    ),
    "neurons per hidden layer (default: 256,128)": (
        "neuronas por capa oculta (por defecto: 256,128)"
    ),
    "plot the losses to FILE (suffix: {})": "dibuja los errores en FICHERO (sufijo: {})",
    "show the steps of an algorithm, forward and back, on a page": (
        "muestra los pasos de un algoritmo, adelante y atrás, en una página"
    ),
    "write the page to FILE (suffix: .html)": "escribe la página en FICHERO (sufijo: .html)",
    "print the steps: one by one in an interactive terminal, otherwise all at once": (
        "escribe los pasos: de uno en uno en un terminal interactivo, si no todos seguidos"
    ),
    "ask about trees, check the answers, and collect them": (
        "pregunta sobre árboles, comprueba las respuestas y las recoge"
    ),
    "exercise type: values, order of visits, cut-offs, open list of SSS*, path of UCT; may be "
    "repeated (default: all)": (
        "tipo de ejercicio: valores, orden de visita, podas, LISTA de SSS*, camino de UCT; se "
        "puede repetir (por defecto: todos)"
    ),
    "algorithm for exercises on the order of visits (default: alpha-beta)": (
        "algoritmo de los ejercicios del orden de visita (por defecto: alpha-beta)"
    ),
    "depth of the trees (default: {})": "profundidad de los árboles (por defecto: {})",
    "maximum number of children of a node (default: {})": (
        "número máximo de hijos de un nodo (por defecto: {})"
    ),
    "student number; each number gets different trees (default: {})": (
        "número de estudiante; cada número recibe árboles distintos (por defecto: {})"
    ),
    "number of exercises of each kind (default: {})": (
        "número de ejercicios de cada tipo (por defecto: {})"
    ),
    "check this answer to the next exercise, without asking; may be repeated": (
        "comprueba esta respuesta al ejercicio siguiente, sin preguntar; se puede repetir"
    ),
    "print the keys with explanations, without asking": (
        "escribe las claves con explicaciones, sin preguntar"
    ),
    "write an interactive page to FILE.html": "escribe una página interactiva en FICHERO.html",
    "mark the answers in results files; print one line per student": (
        "califica las respuestas de ficheros de resultados; escribe una línea por estudiante"
    ),
    "write printable exercise sheets": "escribe hojas de ejercicios para imprimir",
    "write the keys to the sheets": "escribe las claves de las hojas",
    "number of students to write sheets for, each with different trees (default: {})": (
        "número de estudiantes que reciben hojas, cada uno con árboles distintos (por defecto: {})"
    ),
    "append the answers to a results file": "añade las respuestas a un fichero de resultados",
    "student's name in the results": "nombre del estudiante en los resultados",
    "games:": "juegos:",
    "algorithms:": "algoritmos:",
    "an algorithm may have options: alpha-beta+table+killers+history, mcts+playouts=500;": (
        "un algoritmo puede llevar opciones: alpha-beta+table+killers+history, mcts+playouts=500;"
    ),
    "  an unknown option is answered with a list of all options": (
        "  a una opción desconocida se responde con la lista de todas"
    ),
    "algorithms, separated by commas (default: all that support the game)": (
        "algoritmos, separados por comas (por defecto: todos los que admiten el juego)"
    ),
    "algorithm with its options (default: alpha-beta)": (
        "algoritmo con sus opciones (por defecto: alpha-beta)"
    ),
    "number of positions, reached by random moves (default: 1)": (
        "número de posiciones, alcanzadas con jugadas al azar (por defecto: 1)"
    ),
    "use iterative deepening, to any, odd or even depths; count all iterations": (
        "usa profundización iterativa, a profundidades cualesquiera (any), impares (odd) o pares "
        "(even); cuenta todas las iteraciones"
    ),
    "print one JSON object": "escribe un objeto JSON",
    "print one JSON object per line": "escribe un objeto JSON por línea",
    "print the points as one JSON object": "escribe los puntos como un objeto JSON",
    "write the picture to FILE (suffix: {})": "escribe la imagen en FICHERO (sufijo: {})",
    "node limit per search": "límite de nodos por búsqueda",
    "time limit per search in seconds": "límite de tiempo por búsqueda, en segundos",
    "algorithms to plot, separated by commas (default: all exact ones)": (
        "algoritmos que se representan, separados por comas (por defecto: todos los exactos)"
    ),
    "maximum branching factor (default: {})": "ramificación máxima (por defecto: {})",
    "maximum depth (default: {})": "profundidad máxima (por defecto: {})",
    "trees per data point (default: {})": "árboles por punto (por defecto: {})",
    "count each leaf once, even if it is evaluated again": (
        "cuenta cada hoja una vez, aunque se evalúe de nuevo"
    ),
    "random seed of the trees (default: {})": "semilla aleatoria de los árboles (por defecto: {})",
    "draw the strategy to FILE (suffix: {})": "dibuja la estrategia en FICHERO (sufijo: {})",
    "number of strategy branches to print (default: {})": (
        "número de ramas de la estrategia que se escriben (por defecto: {})"
    ),
    "moves to play first": "jugadas iniciales",
    "merge symmetric positions": "une las posiciones simétricas",
    "heuristic pruning: N moves at the root; below, the parent's number minus the move's rank": (
        "poda heurística: N jugadas en la raíz; debajo, las del padre menos el rango de la jugada"
    ),
    "random seed (default: {})": "semilla aleatoria (por defecto: {})",
    "search depth in plies (default: {}; trees: to the leaves)": (
        "profundidad de búsqueda en niveles (por defecto: {}; árboles: hasta las hojas)"
    ),
    "output language (default: en)": "idioma de la salida (por defecto: en)",
    "a game's name, or FILE.py:Class": "el nombre de un juego, o FICHERO.py:Clase",
    "a game's name, or FILE.py:Class (default: {})": (
        "el nombre de un juego, o FICHERO.py:Clase (por defecto: {})"
    ),
    "tree given as nested lists of leaf values": (
        "árbol dado como listas anidadas de valores de hojas"
    ),
    "the game's first option: the size of the board, the heaps (3,4,5), or the counters": (
        "la primera opción del juego: el tamaño del tablero, los montones (3,4,5), las fichas"
    ),
    "another option of the game, such as misere=true; may be repeated": (
        "otra opción del juego, como misere=true; se puede repetir"
    ),
    "evaluation from the side of the player to move (default: the game's own)": (
        "evaluación desde el lado de quien mueve (por defecto: la del juego)"
    ),
    # Metavars that are English words.
    "ACTION": "ACCIÓN",
    "FILE": "FICHERO",
    "FILE.yaml": "FICHERO.yaml",
    "FILE.html": "FICHERO.html",
    "FILE.pdf": "FICHERO.pdf",
    "TEXT": "TEXTO",
    "NAME": "NOMBRE",
    "FILE.py:function": "FICHERO.py:función",
    "NAME=VALUE": "NOMBRE=VALOR",
    "VALUE": "VALOR",
    "SEED": "SEMILLA",
    "'M ...'": "'J ...'",
    "{}: not an opponents file (not changed; use another file)": (
        "{}: no es un fichero de rivales (no se ha cambiado; use otro)"
    ),
    "{}, line {}: {} (file is damaged, not changed; delete the line or use another file)": (
        "{}, línea {}: {} (el fichero está dañado y no se ha cambiado; borre la línea o use otro)"
    ),
    "{}: locked by another process": "{}: otro proceso lo tiene bloqueado",
    "not a game record": "no es el registro de una partida",
    "invalid {} {}": "{} no válido: {}",
    "{}: could not read the file: {}": "{}: no se puede leer el fichero: {}",
    "komi must be between -{} and {} (got {})": "el komi debe estar entre -{} y {} (es {})",
    "unknown algorithm {} (expected one of: {})": (
        "algoritmo desconocido: {} (se espera uno de: {})"
    ),
    "{}: unknown option {} (expected one of: {})": (
        "{}: opción desconocida: {} (se espera una de: {})"
    ),
    "{}: invalid value of {}: {}": "{}: valor no válido de {}: {}",
    "a number of entries, or have no value": "un número de entradas, o no llevar valor",
    "a positive number of plies": "un número positivo de niveles",
    "a file name": "el nombre de un fichero",
    "true or false, or have no value": "true o false, o no llevar valor",
    "an integer": "un número entero",
    "{}: games of chance are not supported (use {})": "{}: no admite juegos de azar (use {})",
    "{}: options must be {} (got {})": "{}: las opciones deben ser {} (son {})",
    "{} does not support continuation": "{} no admite la continuación (continuation)",
    "{}: {} does not support continuation (use swing=VALUE)": (
        "{}: {} no admite la continuación (use swing=VALOR)"
    ),
    "{}: {} does not define forced positions (use swing=VALUE)": (
        "{}: {} no define posiciones forzadas (use swing=VALOR)"
    ),
    "factor must be at least 1 (got {})": "el factor debe ser al menos 1 (es {})",
    "no {} depth up to {} (depth must be at least {})": (
        "no hay profundidad {} hasta {} (la profundidad debe ser al menos {})"
    ),
    "{}: surprise requires killer_memory=FILE": "{}: surprise requiere killer_memory=FICHERO",
    "{}: learning is not supported in games of chance": (
        "{}: no se puede aprender en juegos de azar"
    ),
    "{}: positions cannot be stored: {}": "{}: las posiciones no se pueden guardar: {}",
    "experience {}: {} ({})": "experiencia {}: {} ({})",
    "experience {}: folder does not exist": "experiencia {}: la carpeta no existe",
    "experience {}: not an experience file (use another file)": (
        "experiencia {}: no es un fichero de experiencia (use otro)"
    ),
    "experience {}: written by another version of this program (use another file)": (
        "experiencia {}: escrito por otra versión de este programa (use otro fichero)"
    ),
    "{}; the experience file was not changed": "{}; el fichero de experiencia no se ha cambiado",
    "the file is damaged; restore it from a copy or use another file": (
        "el fichero está dañado; recupérelo de una copia o use otro"
    ),
    "the file is in use by another program": "otro programa usa el fichero",
    "free some disk space": "libere espacio en el disco",
    "the file must be writable": "el fichero debe permitir la escritura",
    "the file and its folder must be writable": (
        "el fichero y su carpeta deben permitir la escritura"
    ),
    "{} is not a number, string or tuple": "{} no es un número, una cadena ni una tupla",
    "not a regular file": "no es un fichero corriente",
    "larger than {} KiB": "ocupa más de {} KiB",
    "file is too large (at most {} KiB)": "el fichero es demasiado grande (como mucho {} KiB)",
    "{}: cannot be traced (its class has __slots__ without __dict__)": (
        "{}: no se puede observar (su clase tiene __slots__ sin __dict__)"
    ),
    "invalid pattern {} (expected rows of equal length of {}, with one *)": (
        "patrón no válido: {} (se esperan filas de igual longitud de {}, con un *)"
    ),
    "unknown game {} (expected one of: {})": "juego desconocido: {} (se espera uno de: {})",
    "unknown game {} (expected one of: {}; for a class of a file write {})": (
        "juego desconocido: {} (se espera uno de: {}; para una clase de un fichero escriba {})"
    ),
    "game {}: {} must be a number (got {})": "juego {}: {} debe ser un número (es {})",
    "game {}: {} (options: {})": "juego {}: {} (opciones: {})",
    "game {}: unknown class {} (expected one of: {})": (
        "juego {}: clase desconocida: {} (se espera una de: {})"
    ),
    "game {}: {} is not a game (missing: {})": "juego {}: {} no es un juego (falta: {})",
    "invalid FEN {}: {}": "FEN no válido: {0}",
    "width and height must be at least 1 (got {} and {})": (
        "width y height deben ser al menos 1 (son {} y {})"
    ),
    "board size must be at least 1 (got {})": "el tamaño del tablero debe ser al menos 1 (es {})",
    "invalid board size {} (expected 1 to {}, or WIDTHxHEIGHT such as 9x13)": (
        "tamaño de tablero no válido: {} (se espera de 1 a {}, o ANCHOxALTO, como 9x13)"
    ),
    "board size must be even and at least 4 (got {})": (
        "el tamaño del tablero debe ser par y al menos 4 (es {})"
    ),
    "counters must be at least 1 (got {})": "el número de fichas debe ser al menos 1 (es {})",
    "invalid men {} (expected POINTxCOUNT, POINT 1 to 24 or bar)": (
        "fichas no válidas: {} (se espera PUNTOxNÚMERO, con PUNTO de 1 a 24 o bar)"
    ),
    "{}: a player must have 1 to {} men": "{}: un jugador debe tener de 1 a {} fichas",
    "{}: both players have men on the same point": (
        "{}: ambos jugadores tienen fichas en el mismo punto"
    ),
    "target must be at least 1 (got {})": "la meta debe ser al menos 1 (es {})",
    "branching must be at least 1 and depth at least 0 (got {} and {})": (
        "la ramificación debe ser al menos 1 y la profundidad al menos 0 (son {} y {})"
    ),
    "tree: {}": "árbol: {}",
    "{}: root": "{}: la raíz",
    "too many nodes (at most {})": "demasiados nodos (como mucho {})",
    "{}: too many nodes (at most {})": "{}: demasiados nodos (como mucho {})",
    "too many levels below the root (at most {})": (
        "demasiados niveles bajo la raíz (como mucho {})"
    ),
    "{}: too many levels below the root (at most {})": (
        "{}: demasiados niveles bajo la raíz (como mucho {})"
    ),
    "{}: value is too large (at most {})": "{}: el valor es demasiado grande (como mucho {})",
    "{}: bound is too large (at most {})": "{}: la cota es demasiado grande (como mucho {})",
    "tree": "árbol",
    "{}: invalid node {} (expected a number or a list)": (
        "{}: nodo no válido: {} (se espera un número o una lista)"
    ),
    "{}: empty list (expected a number for a leaf)": (
        "{}: lista vacía (una hoja debe ser un número)"
    ),
    "root": "la raíz",
    "{}: expected either children or a value": (
        "{}: se esperan o hijos (children) o un valor (value)"
    ),
    "{}: children must be a list, and value a number": (
        "{}: los hijos (children) deben ser una lista, y el valor (value) un número"
    ),
    "{}: unknown key {} (expected one of: {})": "{}: clave desconocida: {} (se espera una de: {})",
    "{}: bounds must be two numbers, such as [3, 8]": (
        "{}: las cotas (bounds) deben ser dos números, como [3, 8]"
    ),
    "{}: lower bound {} is above the upper bound {}": (
        "{}: la cota inferior {} está por encima de la superior {}"
    ),
    "ordered must be between 0 and 1 (got {})": "ordered debe estar entre 0 y 1 (es {})",
    "{}: invalid YAML: {}": "{0}: YAML no válido",
    "{}: invalid YAML: {} (line {}, column {})": "{0}: YAML no válido en la línea {2}, columna {3}",
    "illegal move {} (legal moves: {})": "jugada ilegal {} (jugadas legales: {})",
    "none, the game is over": "ninguna, la partida ha terminado",
    "evaluation {}: compiled evaluations are not supported by this search (expected a plain "
    "function without @evaluator)": (
        "evaluación {}: esta búsqueda no admite evaluaciones compiladas (se espera una "
        "función corriente, sin @evaluator)"
    ),
    "evaluation {} failed: TypeError: returned a value of type {} (must be a number)": (
        "la evaluación {} ha fallado: TypeError: ha devuelto un valor de tipo {} (debe ser "
        "un número)"
    ),
    "evaluation {} returned {} (must be finite; wins and losses always outrank evaluations)": (
        "la evaluación {} ha devuelto {} (debe ser finito; las victorias y derrotas siempre "
        "cuentan más que las evaluaciones)"
    ),
    "evaluation {}: wrong arguments (called with ({}), but takes {}: {})": (
        "evaluación {}: argumentos incorrectos (se llama con ({}), pero recibe {}: {})"
    ),
    "evaluation {} returned a value of type {} (must be an integer number of centipawns, "
    "such as round(value))": (
        "la evaluación {} ha devuelto un valor de tipo {} (debe ser un número entero de "
        "centipeones, como round(valor))"
    ),
    "evaluation {}: invalid name (expected 'handcrafted', 'nnue:FILE', 'module:function' or "
    "'FILE.py:function'; for a learned game also 'learned:FILE')": (
        "evaluación {}: nombre no válido (se espera 'handcrafted', 'nnue:FICHERO', "
        "'módulo:función' o 'FICHERO.py:función'; para un juego aprendido también "
        "'learned:FICHERO')"
    ),
    "invalid view {} or size {}": "vista {} o tamaño {} no válidos",
    "{} of {} must be numbers from -65504 to 65504": (
        "{} de {} han de ser números de -65504 a 65504"
    ),
    "size of {} differs from the trained size": "el tamaño de {} no es el aprendido",
    "evaluation {}: trained for {}, not usable for this game: {}": (
        "evaluación {}: se aprendió para {} y no sirve para este juego: {}"
    ),
    "{} is not a game of the catalogue": "{} no es un juego del catálogo",
    "{} is a different game": "{} es otro juego",
    "option {} must be {} (got {})": "la opción {} debe ser {} (es {})",
    "{}: not written by kempelen lab learn ({})": "{}: no lo ha escrito kempelen lab learn ({})",
    "weights must be finite": "los pesos deben ser finitos",
    "weights are too large (their sums may overflow)": (
        "los pesos son demasiado grandes (las sumas pueden desbordarse)"
    ),
    "{}: file is damaged ({})": "{}: el fichero está dañado ({})",
    "{}: invalid network file: {} ({})": "{}: fichero de red no válido: {} ({})",
    "create a new one with kempelen lab learn": "cree otro con kempelen lab learn",
    "number of parameters does not match the shape": (
        "el número de parámetros no concuerda con la forma"
    ),
    "invalid shape or options": "forma u opciones no válidas",
    "evaluation {}: networks work only in the compiled chess search": (
        "evaluación {}: las redes solo funcionan en la búsqueda compilada de ajedrez"
    ),
    "@batched: invalid size {} (must be 1 to {}, for example @batched(size={}))": (
        "@batched: tamaño no válido {} (debe ser de 1 a {}, por ejemplo @batched(size={}))"
    ),
    "evaluation {}: returned {} items (expected values, or values and priors)": (
        "evaluación {}: ha devuelto {} elementos (se esperan valores, o valores y probabilidades)"
    ),
    "evaluation {}: {} have type {} (expected real numbers)": (
        "evaluación {}: {} de tipo {} (se esperan números reales)"
    ),
    "evaluation {}: rows of {} differ in length (expected shape {})": (
        "evaluación {}: filas de {} de distinta longitud (se espera la forma {})"
    ),
    "evaluation {}: a game's own evaluation must take one position and have no decorator (or "
    "rename the function and select it with --evaluation)": (
        "evaluación {}: la propia de un juego debe recibir una posición y no llevar "
        "decorador (o cambie el nombre de la función y elíjala con --evaluation)"
    ),
    "evaluation {}: {} have shape {} (expected {})": "evaluación {}: {} de forma {} (se espera {})",
    "evaluation {}: {} contain {} (expected finite numbers; wins and losses always outrank "
    "evaluations)": (
        "evaluación {0}: hay {1} con valor {2} (se esperan números finitos; ganar y perder "
        "siempre cuentan más que una evaluación)"
    ),
    "evaluation {}: priors must not be negative, or all 0 for a position (expected "
    "probabilities such as those of softmax)": (
        "evaluación {}: las probabilidades no deben ser negativas, ni todas 0 en una "
        "posición (use softmax, por ejemplo)"
    ),
    "{}: unknown function {} (defined: {})": "{}: función desconocida {} (definidas: {})",
    "{} {}: invalid name (expected 'module:name' or 'FILE.py:name')": (
        "{} {}: nombre no válido (se espera 'módulo:nombre' o 'FICHERO.py:nombre')"
    ),
    "{} file {}: cannot import {} from its folder ('{}' is a package of Kempelen; rename {})": (
        "el fichero de {} {} no puede importar {} de su carpeta ('{}' es un paquete de "
        "Kempelen; cambie el nombre de {})"
    ),
}

# System errors about files. Other system errors are not translated.
SYSTEM_ERRORS = {
    errno.ENOENT: "no existe",
    errno.EACCES: "no se permite el acceso",
    errno.EPERM: "no se permite",
    errno.EISDIR: "es una carpeta",
    errno.ENOTDIR: "no es una carpeta",
    errno.EEXIST: "ya existe",
    errno.ENOSPC: "no queda espacio en el disco",
    errno.EROFS: "el disco es de solo lectura",
    errno.ENAMETOOLONG: "el nombre es demasiado largo",
}


def to_spanish(message: str) -> str:
    """Translate a message or help text. An unknown message is returned unchanged."""
    return _message_patterns().translate(message)


def error_message(error: Exception, language: str) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        reason = str(error.strerror)
        if language == "es":
            reason = to_spanish(reason)
        return reason if error.filename is None else f"{error.filename}: {reason}"
    return to_spanish(str(error)) if language == "es" else str(error)


@cache
def _message_patterns() -> MessageCatalog:
    return MessageCatalog(
        SPANISH | {os.strerror(number): text for number, text in SYSTEM_ERRORS.items()}
    )
