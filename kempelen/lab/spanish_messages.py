"""What goes wrong, and what --help tells, in the Spanish of the lecture notes.

Messages are recognised by their forms, as a Phrasebook does.
"""

from __future__ import annotations

import errno
import os
from functools import cache

from agent.io.message_catalog import MessageCatalog

SPANISH = {
    # What the algorithms and games refuse.
    "there is no algorithm {}; there are {}": "no hay ningún algoritmo {}; hay {}",
    "{} has no option {}; it has {}": "{} no tiene ninguna opción {}; tiene {}",
    "{}: {} must be {}": "{}: {} debe ser {}",
    "{}: {} is no YAML value: {}": "{}: {} no es un valor de YAML: {}",
    "--tree: a tree of a file has neither --size nor --option": (
        "--tree: un árbol de un fichero no tiene ni --size ni --option"
    ),
    "a number of entries, or alone": "un número de entradas, o ir sola",
    "a number of plies": "un número de niveles",
    "a value above 0": "un valor mayor que 0",
    "the name of a file": "el nombre de un fichero",
    "true, false, or alone": "true, false, o ir sola",
    "one of {}": "una de {}",
    "a whole number": "un número entero",
    "a number": "un número",
    "{} plays no games of chance; {} do": "{} no juega a juegos de azar; {} sí",
    "{} takes {}, not {}": "{} admite {}, no {}",
    "{} has no moves to continue leaves on": "{} no tiene jugadas con que continuar las hojas",
    "{}: {} has no moves to continue leaves on: use swing=VALUE": (
        "{}: {} no tiene jugadas con que continuar las hojas: use swing=VALOR"
    ),
    "{}: {} does not say where its mover is forced: use swing=VALUE": (
        "{}: {} no dice dónde está obligado quien mueve: use swing=VALOR"
    ),
    "{}: {} has no patterns": "{}: {} no tiene patrones",
    "a factor of {} leaves no move; use 1 or more": (
        "un factor de {} no deja ninguna jugada; use 1 o más"
    ),
    "there is no {} depth up to {}; use {} or more": (
        "no hay ninguna profundidad {} hasta {}; use {} o más"
    ),
    "odd": "impar",
    "even": "par",
    "{}: surprise needs killer_memory=FILE": "{}: surprise requiere killer_memory=FICHERO",
    "{} is a game of chance: nothing is learned from its outcomes": (
        "{} es un juego de azar: de sus desenlaces no se aprende nada"
    ),
    "{} algorithms cannot play one game; name one or two": (
        "{} algoritmos no pueden jugar una partida; nombre uno o dos"
    ),
    "{}: in a game of chance outcomes are luck, not experience": (
        "{}: en un juego de azar los desenlaces son suerte, no experiencia"
    ),
    "{}: its positions cannot be kept: {}": "{}: sus posiciones no se pueden guardar: {}",
    "experience {}: {}": "experiencia {}: {}",
    "experience {}: {}; {}": "experiencia {}: {}; {}",
    "experience {}: its folder does not exist": "experiencia {}: su carpeta no existe",
    "experience {}: it holds no experience; name another file": (
        "experiencia {}: no contiene experiencia; nombre otro fichero"
    ),
    "experience {}: written by another version of this program; name another file": (
        "experiencia {}: la escribió otra versión de este programa; nombre otro fichero"
    ),
    "{}; experience stays with this file until then": (
        "{}; hasta entonces la experiencia sigue en este fichero"
    ),
    "it is damaged: restore it from a copy, or name another file": (
        "está dañado: recupérelo de una copia o nombre otro fichero"
    ),
    "another program uses it: end that one": "otro programa lo usa: termínelo",
    "make room on its disk": "haga sitio en su disco",
    "it must be writable": "se ha de poder escribir en él",
    "it and its folder must be writable": "se ha de poder escribir en él y en su carpeta",
    "file is not a database": "no es una base de datos",
    "database is locked": "la base de datos está en uso",
    "database disk image is malformed": "la base de datos está dañada",
    "{} is neither number, word nor tuple": "{} no es ni número, ni palabra, ni tupla",
    "{} cannot be read: {}": "{} no se puede leer: {}",
    "{} cannot be locked: {}": "{} no se puede bloquear: {}",
    "it is no regular file": "no es un fichero corriente",
    "it is larger than {} KiB": "ocupa más de {} KiB",
    "it is larger than {} KiB: name another file": "ocupa más de {} KiB: nombre otro fichero",
    "{} cannot be watched: its class has __slots__ without __dict__": (
        "{} no se puede observar: su clase tiene __slots__ sin __dict__"
    ),
    "{} is no pattern: rows of equal length of {}, with one *": (
        "{} no es un patrón: filas de igual longitud de {}, con un *"
    ),
    "there is no game {}; there are {}": "no hay ningún juego {}; hay {}",
    "there is no game {}; there are {}; a class of that file is {}": (
        "no hay ningún juego {}; hay {}; una clase de ese fichero es {}"
    ),
    "game {}: {}": "juego {}: {}",
    "game {}: {} is a number, not {}": "juego {}: {} es un número, no {}",
    "game {}: {}; its options: {}": "juego {}: {}; sus opciones: {}",
    "game {}: there is no class {}; there are: {}": "juego {}: no hay ninguna clase {}; hay: {}",
    "game {}: {} is no game, it lacks {}": "juego {}: {} no es un juego, le falta {}",
    "game {} has no --size": "el juego {} no tiene --size",
    "none": "ninguna",
    "missing a required argument: {}": "falta un argumento necesario: {}",
    "got an unexpected keyword argument {}": "ha recibido un argumento que no conoce: {}",
    "too many positional arguments": "demasiados argumentos",
    "{} is no position of chess: {}": "{0} no es una posición de ajedrez",
    "a board of {} by {} has no squares": "un tablero de {} por {} no tiene casillas",
    "a board of size {} has no squares; use 1 or more": (
        "un tablero de tamaño {} no tiene casillas; use 1 o más"
    ),
    "a board of size {} cannot be; use 1 to {}, or WIDTHxHEIGHT such as 9x13": (
        "no puede haber un tablero de tamaño {}; use de 1 a {}, o ANCHOxALTO, como 9x13"
    ),
    "expected a size from {} to {}, or WIDTHxHEIGHT such as 9x13, not {}": (
        "se espera un tamaño de {} a {}, o ANCHOxALTO, como 9x13, y no {}"
    ),
    "a board of size {} cannot be; use an even size from 4": (
        "no puede haber un tablero de tamaño {}; use un tamaño par desde 4"
    ),
    "{} is not empty": "{} no está vacío",
    "a stone on {} leaves a chain without liberties": (
        "una piedra en {} deja una cadena sin libertades"
    ),
    "a heap of {} counters cannot be; use 1 or more": (
        "no puede haber un montón de {} fichas; use 1 o más"
    ),
    "a heap of {} counters cannot be; use 0 or more": (
        "no puede haber un montón de {} fichas; use 0 o más"
    ),
    "{} is no men: write POINTxCOUNT, points from 1 to 24, or bar": (
        "{} no son fichas: escriba PUNTOxNÚMERO, puntos de 1 a 24, o bar"
    ),
    "{}: a player has 1 to {} men": "{}: un jugador tiene de 1 a {} fichas",
    "{}: both players have men on one point": (
        "{}: ambos jugadores tienen fichas en el mismo punto"
    ),
    "a target of {} points is no game; use 1 or more": (
        "una meta de {} puntos no es un juego; use 1 o más"
    ),
    "no tree has branching {} and depth {}": (
        "ningún árbol tiene ramificación {} y profundidad {}"
    ),
    "{}: {}": "{}: {}",
    "the tree: {}": "el árbol: {}",
    "{}: the root": "{}: la raíz",
    "it has more than {} nodes": "tiene más de {} nodos",
    "{}: it has more than {} nodes": "{}: tiene más de {} nodos",
    "it has more than {} levels below the root": "tiene más de {} niveles bajo la raíz",
    "{}: it has more than {} levels below the root": "{}: tiene más de {} niveles bajo la raíz",
    "{} is too large; a value is at most {}": "{} es demasiado grande; un valor es como mucho {}",
    "{}: a bound is too large; it is at most {}": (
        "{}: una cota es demasiado grande; es como mucho {}"
    ),
    "the tree": "el árbol",
    "the text of a tree has {} characters at most": (
        "el texto de un árbol tiene como mucho {} caracteres"
    ),
    "there is no such game or algorithm": "no hay tal juego o algoritmo",
    "{} does not play {}": "{} no juega a {}",
    "the depth is from {} to {}": "la profundidad va de {} a {}",
    "{} is {}, neither a number nor a list": "{} es {}, ni un número ni una lista",
    "{} is an empty list; write a leaf as a number": (
        "{} es una lista vacía; escriba una hoja como número"
    ),
    "the root": "la raíz",
    "{} needs either children or a value": "{} necesita o hijos (children) o un valor (value)",
    "{}: children are a list, a value is a number": (
        "{}: los hijos (children) son una lista, un valor (value) es un número"
    ),
    "{} has {}; a node has {}": "{} tiene {}; un nodo tiene {}",
    "{}: bounds are two numbers, such as [3, 8]": (
        "{}: las cotas (bounds) son dos números, como [3, 8]"
    ),
    "{}: the lower bound {} is above the upper bound {}": (
        "{}: la cota inferior {} está por encima de la superior {}"
    ),
    "a share of {} ordered nodes cannot be; use 0 to 1": (
        "no puede haber una parte de {} nodos ordenados; use de 0 a 1"
    ),
    "{} is not YAML: {}": "{0} no es YAML",
    "{} is not YAML: {} (line {}, column {})": "{0} no es YAML: véase la línea {2}, columna {3}",
    "{} is no legal move; legal: {}": "{} no es una jugada legal; legales: {}",
    "none: the game is over": "ninguna: la partida ha terminado",
    # The user's own code.
    "evaluation {} is compiled, for compiled searches; here a plain function is needed, "
    "without @evaluator": (
        "la evaluación {} está compilada, para búsquedas compiladas; aquí hace falta una función "
        "corriente, sin @evaluator"
    ),
    "evaluation {} failed: TypeError: it returned a value of the type {}: a number is needed": (
        "la evaluación {} ha fallado: TypeError: ha devuelto un valor del tipo {}: hace falta un "
        "número"
    ),
    "evaluation {} returned {}: a finite number is needed (wins and losses outrank every "
    "evaluation by themselves)": (
        "la evaluación {} ha devuelto {}: hace falta un número finito (ganar y perder cuentan de "
        "por sí más que cualquier evaluación)"
    ),
    "evaluation {} takes other arguments: it is called with ({}), and takes {}: {}": (
        "la evaluación {} tiene otros argumentos: se llama con ({}), y tiene {}: {}"
    ),
    "evaluation {} returned a value of the type {}: a whole number of centipawns is needed, such "
    "as round(value)": (
        "la evaluación {} ha devuelto un valor del tipo {}: hace falta un número entero de "
        "centipeones, como round(valor)"
    ),
    "evaluation {} failed: {}": "la evaluación {} ha fallado: {}",
    "evaluation {} is not 'handcrafted', 'nnue:FILE', 'module:function' or 'FILE.py:function' "
    "(nor, of a game that was learned, 'learned:FILE')": (
        "la evaluación {} no es 'handcrafted', 'nnue:FICHERO', 'módulo:función' ni "
        "'FICHERO.py:función' (ni, de un juego aprendido, 'learned:FICHERO')"
    ),
    # What was learned.
    "there is no view {} of {} numbers": "no hay ninguna vista {} de {} números",
    "{} of {} must be numbers from -65504 to 65504: scale them down": (
        "{} de {} han de ser números de -65504 a 65504: cambie su escala"
    ),
    "{} has another size here than what was learned": (
        "{} tiene aquí otro tamaño que el aprendido"
    ),
    "evaluation {} was learned for {} and cannot judge this game: {}": (
        "la evaluación {} se aprendió para {} y no puede juzgar este juego: {}"
    ),
    "{} is no game of the catalogue": "{} no es un juego del catálogo",
    "{} is another game": "{} es otro juego",
    "{} is {} here": "{} es {} aquí",
    "evaluation learned:{}: {}": "evaluación learned:{}: {}",
    "{} is nothing that kempelen lab learn has written: {}": (
        "{} no es nada que haya escrito kempelen lab learn: {}"
    ),
    "a weight is infinite, or no number": "un peso es infinito o no es un número",
    "its weights are so large that their sums may overflow": (
        "sus pesos son tan grandes que las sumas pueden desbordarse"
    ),
    "{} is damaged: {}": "{} está dañado: {}",
    "{} cannot be used ({}): {}": "{} no se puede usar ({}): {}",
    "make another with kempelen lab learn": "haga otro con kempelen lab learn",
    "its numbers do not fit together": "sus números no concuerdan",
    "it tells of no network": "no describe ninguna red",
    "steps, games and neurons: 1 or more of each are needed": (
        "pasos, partidas y neuronas: hace falta 1 o más de cada"
    ),
    "{} is in use: another process learns with it": ("{} está en uso: otro proceso aprende con él"),
    "{} holds what was learned of {}: name another file with -o": (
        "{} contiene lo aprendido de {}: nombre otro fichero con -o"
    ),
    "{}: the games had no moves to learn from": (
        "{}: las partidas no han tenido jugadas de que aprender"
    ),
    "{} is no checkpoint of ours: {}": "{} no es un estado guardado nuestro: {}",
    "{} is damaged: remove it, to begin anew": "{} está dañado: bórrelo para empezar de nuevo",
    "{} was begun otherwise ({}): {}": "{} se empezó de otro modo ({}): {}",
    "{} was {}, is {}": "{} era {}, es {}",
    "name another checkpoint, or remove this one": "nombre otro, o borre este",
    "name another file with -o, or remove this one": "nombre otro con -o, o borre este",
    "an evaluation is what is learned: leave --evaluation out": (
        "una evaluación es lo que se aprende: quite --evaluation"
    ),
    "evaluation {}: networks evaluate the compiled chess search alone": (
        "evaluación {}: las redes evalúan solo la búsqueda compilada de ajedrez"
    ),
    "a batch has 1 to {} positions, not {}: write @batched(size={})": (
        "un lote tiene de 1 a {} posiciones, no {}: escriba @batched(size={})"
    ),
    "evaluation {} returned {} things: values are needed, or (values, priors)": (
        "la evaluación {} ha devuelto {} cosas: hacen falta valores, o (valores, probabilidades)"
    ),
    "evaluation {} returned {} of the type {}: real numbers are needed": (
        "la evaluación {} ha devuelto {} del tipo {}: hacen falta números reales"
    ),
    "evaluation {} returned {} whose rows differ in length: the shape {} is needed": (
        "la evaluación {} ha devuelto {} con filas de distinta longitud: hace falta la forma {}"
    ),
    "evaluation {}: a game's own evaluation takes one position, without decorator; call it "
    "otherwise, and choose it with --evaluation": (
        "la evaluación {}: la propia de un juego recibe una posición, sin decorador; póngale otro "
        "nombre y elíjala con --evaluation"
    ),
    "evaluation {} returned {} of the shape {}, where {} is needed": (
        "la evaluación {} ha devuelto {} de la forma {}, donde hace falta {}"
    ),
    "evaluation {} returned {} among its {}: finite numbers are needed (wins and losses outrank "
    "every evaluation by themselves)": (
        "la evaluación {} ha devuelto {} entre sus {}: hacen falta números finitos (ganar y perder "
        "cuentan de por sí más que cualquier evaluación)"
    ),
    "evaluation {} returned priors below 0, or a position's that are all 0: numbers from 0 are "
    "needed, such as those of softmax": (
        "la evaluación {} ha devuelto probabilidades menores que 0, o todas 0 en una posición: "
        "hacen falta números desde 0, como los de softmax"
    ),
    "values": "valores",
    "priors": "probabilidades",
    "{} has no function {}; it has: {}": "{} no tiene ninguna función {}; tiene: {}",
    "module {} has no attribute {}": "el módulo {} no tiene ningún atributo {}",
    "{} {} is not 'module:name' or 'FILE.py:name'": (
        "{} {} no es 'módulo:nombre' ni 'FICHERO.py:nombre'"
    ),
    "{} file {} does not exist": "no existe el fichero de {} {}",
    "{} file {} cannot be read: {}": "el fichero de {} {} no se puede leer: {}",
    "{} file {} is not a Python file": "el fichero de {} {} no es un fichero de Python",
    "{} file {} failed: {}": "el fichero de {} {} ha fallado: {}",
    "{} module {} failed: {}": "el módulo de {} {} ha fallado: {}",
    "{} ({}, line {})": "{} ({}, línea {})",
    "evaluation": "evaluación",
    "game": "juego",
    # The lab itself.
    "{} is no picture: its name must end in {}": (
        "{} no es una imagen: su nombre debe acabar en {}"
    ),
    "{}: there is no folder {}": "{}: no hay ninguna carpeta {}",
    "{} says {}, which cannot stand inside a page": (
        "{} dice {}, que no puede estar dentro de una página"
    ),
    "{} is not installed: pip install 'kempelen[lab]'": (
        "{} no está instalado: pip install 'kempelen[lab]'"
    ),
    "nothing to do: name a picture with -o FILE, or ask for --json": (
        "nada que hacer: nombre una imagen con -o FICHERO, o pida --json"
    ),
    "trees of branching {} and depth {} are not for a plot: use a branching from 2 and not more "
    "than {} leaves": (
        "los árboles de ramificación {} y profundidad {} no son para una gráfica: use una "
        "ramificación desde 2 y no más de {} hojas"
    ),
    "the tree has more than {} nodes, too many to see: use a smaller --depth, a later position "
    "(--moves) or a smaller game (--size)": (
        "el árbol tiene más de {} nodos, demasiados para verlos: use una --depth menor, una "
        "posición posterior (--moves) o un juego menor (--size)"
    ),
    "the strategy has {} positions, too many to see: use a smaller game (--size) or a later "
    "position (--moves)": (
        "la estrategia tiene {} posiciones, demasiadas para verlas: use un juego menor (--size) o "
        "una posición posterior (--moves)"
    ),
    "{} is a game of chance and has no strategy that always wins": (
        "{} es un juego de azar y no tiene ninguna estrategia que gane siempre"
    ),
    "{} has no symmetries to --fold": "{} no tiene simetrías para --fold",
    "the search went too deep: use a smaller --depth, a smaller game (--size) or a later "
    "position (--moves)": (
        "la búsqueda ha ido demasiado hondo: use una --depth menor, un juego menor (--size) o una "
        "posición posterior (--moves)"
    ),
    # Of exercises.
    "there is no kind {} of exercises; there are {}": (
        "no hay ejercicios de la clase {}; los hay de {}"
    ),
    "exercises have a {} from {} to {}, not {}": "los ejercicios tienen una {} de {} a {}, no {}",
    "depth": "profundidad",
    "branching": "ramificación",
    "seed": "semilla",
    "student": "cifra de estudiante",
    "number": "cifra",
    "trees of depth {} and branching {} have too many leaves for an exercise: use smaller ones": (
        "los árboles de profundidad {} y ramificación {} tienen demasiadas hojas para un "
        "ejercicio: use menores"
    ),
    "no exercise of the kind {} was found on trees of depth {} and branching {}: "
    "use greater ones": (
        "no se ha hallado ningún ejercicio de la clase {} en árboles de profundidad {} y "
        "ramificación {}: use mayores"
    ),
    "{} does not find the minimax value, or keeps a file: for the order of visits use another "
    "algorithm, such as alpha-beta, scout or sss-star": (
        "{} no halla el valor minimax, o guarda un fichero: para el orden de visita use otro "
        "algoritmo, como alpha-beta, scout o sss-star"
    ),
    "there are {} exercises and {} answers: ask for more with --kind or --count": (
        "hay {} ejercicios y {} respuestas: pida más con --kind o --count"
    ),
    "--algorithm is of the order of visits: ask for it with --kind order": (
        "--algorithm es del orden de visita: pídalo con --kind order"
    ),
    "more than {} exercises are too many: use a smaller --count": (
        "más de {} ejercicios son demasiados: use un --count menor"
    ),
    "{} would have more than {} exercises: name another file for the results": (
        "{} tendría más de {} ejercicios: nombre otro fichero para los resultados"
    ),
    "--results is for answers: give some with --answer, or answer in the terminal": (
        "--results es para respuestas: dé alguna con --answer, o responda en el terminal"
    ),
    "the answer is too long: write {} characters at most": (
        "la respuesta es demasiado larga: escriba {} caracteres como mucho"
    ),
    "{} cannot be read": "{} no se entiende",
    "{}; write it like this: {}": "{}; escríbala así: {}",
    "{} is no page: its name must end in {}": "{} no es una página: su nombre debe acabar en {}",
    "{} is no sheet: its name must end in {}": "{} no es una hoja: su nombre debe acabar en {}",
    "{} is no file of results: {}": "{} no es un fichero de resultados: {}",
    "{} is the file of the sheets too: name another for the keys": (
        "{} es también el fichero de las hojas: nombre otro para las claves"
    ),
    "it is not JSON": "no es JSON",
    "it was not written by lab exercise": "no lo ha escrito lab exercise",
    "it is of another version": "es de otra versión",
    "it has no name, or no exercises": "no tiene nombre, o no tiene ejercicios",
    "it has more than {} exercises": "tiene más de {} ejercicios",
    "it has an exercise twice": "tiene un ejercicio dos veces",
    "an exercise lacks something": "a un ejercicio le falta algo",
    "an exercise is not told as it should be": "un ejercicio no está escrito como debe",
    "an exercise has too many answers, or too long ones": (
        "un ejercicio tiene demasiadas respuestas, o demasiado largas"
    ),
    "expected NAME=VALUE, not {}": "se esperaba NOMBRE=VALOR, no {}",
    "komi is less than {}, not {}": "el komi es menor que {}, no {}",
    "expected a whole number up to {}, not {}": "se espera un número entero hasta {}, no {}",
    "expected a whole number above 0, not {}": "se esperaba un número entero mayor que 0, no {}",
    "expected seconds above 0, not {}": "se esperaban segundos por encima de 0, no {}",
    "expected a number from 0 to {}, not {}": "se esperaba un número de 0 a {}, no {}",
    # Argparse's own words.
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
    # What --help tells.
    "compare, trace, draw and plot search algorithms on any game, and solve games": (
        "compara, sigue, dibuja y representa algoritmos de búsqueda en cualquier juego, y resuelve "
        "juegos"
    ),
    "play games, and learn from surprises with a killer memory": (
        "juega partidas, y aprende de las sorpresas con una memoria asesina"
    ),
    "who plays, one for both sides or two that change sides (default: alpha-beta)": (
        "quién juega, uno por ambos bandos o dos que cambian de bando (por defecto: alpha-beta)"
    ),
    "so many games (default: 1)": "tantas partidas (por defecto: 1)",
    "print a JSON object a game": "imprime un objeto JSON por partida",
    "compare algorithms on the same positions": "compara algoritmos en las mismas posiciones",
    "print the steps of an algorithm": "escribe los pasos de un algoritmo",
    "draw the tree that an algorithm searches": "dibuja el árbol que un algoritmo recorre",
    "plot leaves against depth and branching, with the theory": (
        "representa las hojas según profundidad y ramificación, con la teoría"
    ),
    "solve a game: its value and how to win": "resuelve un juego: su valor y cómo ganar",
    "make the lecture notes' tables and figures anew, as one page": (
        "rehace las tablas y figuras de los apuntes, en una página"
    ),
    "write them as one page that needs no network": (
        "las escribe en una página que no necesita red"
    ),
    "draw the strategy within the whole tree of the game": (
        "dibuja la estrategia dentro del árbol entero del juego"
    ),
    "learn a game by self-play: a network, or weights of features": (
        "aprende un juego jugando consigo mismo: una red, o pesos de características"
    ),
    "a network of values and moves, for alphazero, or weights of features, for any algorithm "
    "(default: network)": (
        "una red (network) de valores y jugadas, para alphazero, o pesos (weights) de "
        "características, para cualquier algoritmo (por defecto: network)"
    ),
    "where it is written; FILE.run beside it keeps the run, which goes on from there (default: "
    "GAME.learned)": (
        "dónde se escribe; FICHERO.run guarda al lado lo hecho, y desde ahí se sigue (por "
        "defecto: JUEGO.learned)"
    ),
    "steps of self-play and learning (default: 100, for weights 30)": (
        "pasos de jugar y aprender (por defecto: 100, con pesos 30)"
    ),
    "games of a step (default: 64)": "partidas de un paso (por defecto: 64)",
    "playouts for a move that is learned from (default: 64)": (
        "simulaciones por jugada de la que se aprende (por defecto: 64)"
    ),
    "of each layer of the network (default: 256,128)": (
        "de cada capa de la red (por defecto: 256,128)"
    ),
    "draw how it learned; the name ends in {}": "dibuja cómo aprendió; el nombre acaba en {}",
    "show the steps of an algorithm, forward and back, on a page": (
        "muestra los pasos de un algoritmo, adelante y atrás, en una página"
    ),
    "the page; its name ends in .html": "la página; su nombre acaba en .html",
    "in the terminal: step by step where keys can be read, else all steps": (
        "en el terminal: paso a paso donde se pueden leer teclas, si no todos los pasos"
    ),
    "ask about trees, check the answers, and collect them": (
        "pregunta sobre árboles, comprueba las respuestas y las recoge"
    ),
    "values, order of visits, cut-offs, the list of SSS*, the path of UCT; may be repeated "
    "(default: all)": (
        "valores, orden de visita, podas, la lista de SSS*, el camino de UCT; se puede repetir "
        "(por defecto: todas)"
    ),
    "of the order of visits (default: alpha-beta)": (
        "del orden de visita (por defecto: alpha-beta)"
    ),
    "the most children of a node (default: {})": (
        "el máximo de hijos de un nodo (por defecto: {})"
    ),
    "a number that gives other trees (default: {})": (
        "un número que da otros árboles (por defecto: {})"
    ),
    "exercises of each kind (default: {})": "ejercicios de cada clase (por defecto: {})",
    "the answer to the next exercise, instead of asking; may be repeated": (
        "la respuesta al ejercicio siguiente, en vez de preguntar; se puede repetir"
    ),
    "tell the keys and why, instead of asking": "dice las claves y el porqué, en vez de preguntar",
    "write a page that asks and checks": "escribe una página que pregunta y comprueba",
    "mark the results in these files, a line a student": (
        "califica los resultados de estos ficheros, una línea por estudiante"
    ),
    "write sheets with exercises, to be printed": "escribe hojas con ejercicios, para imprimirlas",
    "write the keys to the sheets": "escribe las claves de las hojas",
    "sheets for so many students, each with other trees (default: {})": (
        "hojas para tantos estudiantes, cada uno con otros árboles (por defecto: {})"
    ),
    "write down the answers, behind those that are there": (
        "apunta las respuestas, detrás de las que ya haya"
    ),
    "whose the results are": "de quién son los resultados",
    "games:": "juegos:",
    "algorithms:": "algoritmos:",
    "an algorithm may have options: alpha-beta+table+killers+history, mcts+playouts=500;": (
        "un algoritmo puede llevar opciones: alpha-beta+table+killers+history, mcts+playouts=500;"
    ),
    "  one that it has not is answered with all that it has": (
        "  a una que no tenga se responde con todas las que tiene"
    ),
    "default: all": "por defecto: all, todos",
    "default: alpha-beta": "por defecto: alpha-beta",
    "compare on so many positions, reached by random moves (default: 1)": (
        "compara en tantas posiciones, alcanzadas con jugadas al azar (por defecto: 1)"
    ),
    "search 1, 2, ... plies deep, or only odd or even depths; all is counted": (
        "busca a 1, 2, ... niveles, o solo a profundidades impares (odd) o pares (even); todo "
        "cuenta"
    ),
    "print one JSON object": "escribe un objeto JSON",
    "print a JSON object a line": "escribe un objeto JSON por línea",
    "print the points as one JSON object": "escribe los puntos como un objeto JSON",
    "the picture; its name ends in {}": "la imagen; su nombre acaba en {}",
    "the most nodes of a search": "el máximo de nodos de una búsqueda",
    "the most seconds of a search": "el máximo de segundos de una búsqueda",
    "default: all that find the minimax value": (
        "por defecto: todos los que hallan el valor minimax"
    ),
    "default: {}": "por defecto: {}",
    "trees a point (default: {})": "árboles por punto (por defecto: {})",
    "count a leaf once, however often an algorithm without memory evaluates it": (
        "cuenta cada hoja una vez, aunque un algoritmo sin memoria la evalúe varias"
    ),
    "of the trees (default: {})": "de los árboles (por defecto: {})",
    "draw the strategy; the name ends in {}": "dibuja la estrategia; el nombre acaba en {}",
    "write out so many branches of the strategy (default: {})": (
        "escribe tantas ramas de la estrategia (por defecto: {})"
    ),
    "moves to begin with": "jugadas con que empezar",
    "of positions that a symmetry maps to each other look at one only": (
        "de las posiciones que una simetría hace iguales, mira solo una"
    ),
    "heuristic pruning: N moves at the root, below as many as the parent less the rank": (
        "poda heurística: N jugadas en la raíz, debajo tantas como el padre menos el rango"
    ),
    "of all that is random (default: {})": "de todo lo que es azar (por defecto: {})",
    "plies (default: {}; a tree is searched to its leaves)": (
        "niveles (por defecto: {}; un árbol se recorre hasta sus hojas)"
    ),
    "the language of all that is said (default: en)": (
        "el idioma de todo lo que se dice (por defecto: en)"
    ),
    "a game's name, or FILE.py:Class": "el nombre de un juego, o FICHERO.py:Clase",
    "a game's name, or FILE.py:Class (default: {})": (
        "el nombre de un juego, o FICHERO.py:Clase (por defecto: {})"
    ),
    "nested lists of leaf values": "listas anidadas de valores de hojas",
    "the game's first option: the board's size, the heaps (3,4,5), the counters": (
        "la primera opción del juego: el tamaño del tablero, los montones (3,4,5), las fichas"
    ),
    "another option of the game, such as misere=true; may be repeated": (
        "otra opción del juego, como misere=true; se puede repetir"
    ),
    "the value of a position for its mover (default: the game's own)": (
        "el valor de una posición para quien mueve (por defecto: el del juego)"
    ),
    # The names of arguments, where they are words.
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
}

# What the system says of files; anything else it says in its own language.
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
    """Return a message, or a text of --help, in Spanish; unchanged if it has no known form."""
    return _message_patterns().translate(message)


def error_message(error: Exception, language: str) -> str:
    """Say in that language what an error means for the user."""
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
