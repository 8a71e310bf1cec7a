"""The words of the exercises, and their Spanish."""

SPANISH = {
    "After {} playouts each node shows the sum of MAX's rewards / its visits.": (
        "Tras {} simulaciones cada nodo muestra la suma de las recompensas de MAX / sus visitas."
    ),
    "A leaf that is evaluated again is written again.": (
        "Una hoja que se evalúa de nuevo se escribe de nuevo."
    ),
    "Cut-offs": "Podas",
    "Of equal bounds the one further left in the tree comes first.": (
        "De cotas iguales va primero la que está más a la izquierda en el árbol."
    ),
    "Order of visits": "Orden de visita",
    "Taken off the list": "Se quitan de la LISTA",
    "The first guess is {}.": "La primera conjetura es {}.",
    "The list of SSS*": "La LISTA de SSS*",
    "The path of UCT": "El camino de UCT",
    "UCT goes down by the greatest {}, where the mean is that of whoever moves to the child; one "
    "that was not tried comes first. At which node of the tree does its next selection end?": (
        "UCT baja por el mayor {}, donde la media es la de quien mueve hacia el hijo; uno que no "
        "se ha probado va primero. ¿En qué nodo del árbol acaba su próxima selección?"
    ),
    "Values": "Valores",
    "What are the minimax values of the inner nodes? Write each as NODE=VALUE.": (
        "¿Cuáles son los valores minimax de los nodos internos? Escriba cada uno como NODO=VALOR."
    ),
    "What is row {} of SSS*'s open list? V is a live state, S a solved one.": (
        "¿Cuál es la fila {} de la LISTA de SSS*? V es un estado vivo, S uno solucionado."
    ),
    "Which branches does alpha-beta cut off, and why?": ("¿Qué ramas poda alfa-beta, y por qué?"),
    "Which leaves does {} evaluate, and in which order?": ("¿Qué hojas evalúa {}, y en qué orden?"),
    "Write each as BRANCH<=ALPHA where MIN's value is not above alpha, and as BRANCH>=BETA where "
    "MAX's is not below beta.": (
        "Escriba cada una como RAMA<=ALFA donde el valor de MIN no supera alfa, y como RAMA>=BETA "
        "donde el de MAX no queda bajo beta."
    ),
    "A click on a node writes its name.": "Un clic en un nodo escribe su nombre.",
    "answer, or nothing to see the key": "respuesta, o nada para ver la clave",
    "answers": "respuestas",
    "at once": "a la primera",
    "check": "comprobar",
    "exercise": "ejercicio",
    "exercises": "ejercicios",
    "exercises on search": "ejercicios de búsqueda",
    "for example": "por ejemplo",
    "key": "clave",
    "kind": "clase",
    "name": "nombre",
    "next": "siguiente",
    "not right": "no son así",
    "out of place": "fuera de lugar",
    "points": "puntos",
    "previous": "anterior",
    "right": "correcto",
    "save the results": "guardar los resultados",
    "seed": "semilla",
    "show the key": "mostrar la clave",
    "student": "estudiante",
    "the greatest is that of": "la mayor es la de",
    "the greatest of": "el mayor de",
    "the least of": "el menor de",
    "wrong": "incorrecto",
    "your answer": "su respuesta",
    "{} ({}) has {} after {}: the other player will not let it come to this": (
        "{} ({}) tiene {} tras {}: el otro jugador no lo permitirá"
    ),
    "{} is a live leaf: solved, with the lesser of bound and value: {}": (
        "{} es una hoja viva: solucionada, con el menor de cota y valor: {}"
    ),
    "{} is live and MAX's: all its children come: {}": (
        "{} está viva y es de MAX: entran todos sus hijos: {}"
    ),
    "{} is live and MIN's: its first child comes: {}": (
        "{} está viva y es de MIN: entra su primer hijo: {}"
    ),
    "{} is solved and its parent MAX's: the parent is solved: {}": (
        "{} está solucionada y su padre es de MAX: el padre queda solucionado: {}"
    ),
    "{} is solved and its parent MIN's: the next child comes: {}": (
        "{} está solucionada y su padre es de MIN: entra el hijo siguiente: {}"
    ),
    "{} is solved, and the last child of MIN's: the parent is solved: {}": (
        "{} está solucionada, y es el último hijo de MIN: el padre queda solucionado: {}"
    ),
    "{} cannot be read; write it like this: {}": "{} no se entiende; escríbalo así: {}",
    "{} of {} right, {} at once": "{} de {} correctos, {} a la primera",
    "{} points of {}": "{} puntos de {}",
}
