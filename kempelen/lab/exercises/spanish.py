"""Spanish translations of the exercise texts."""

SPANISH = {
    "After {} playouts, each node shows the sum of MAX's rewards / its visits.": (
        "Tras {} simulaciones, cada nodo muestra la suma de las recompensas de MAX / sus visitas."
    ),
    "If a leaf is evaluated again, write it again.": (
        "Si una hoja se evalúa de nuevo, escríbala de nuevo."
    ),
    "Cut-offs": "Podas",
    "States with equal bounds are ordered from left to right in the tree.": (
        "Los estados con la misma cota se ordenan de izquierda a derecha en el árbol."
    ),
    "Order of visits": "Orden de visita",
    "Removed from the list": "Se quitan de la LISTA",
    "The first guess is {}.": "La primera conjetura es {}.",
    "The list of SSS*": "La LISTA de SSS*",
    "The path of UCT": "El camino de UCT",
    "UCT descends to the child with the largest {}, where the mean is from the view of the player "
    "who moves to the child. Untried children come first. At which node of the tree does the next "
    "selection end?": (
        "UCT baja al hijo de mayor {}, donde la media es la de quien mueve hacia el hijo. Los "
        "hijos sin probar van primero. ¿En qué nodo del árbol acaba la próxima selección?"
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
    "Write BRANCH<=ALPHA where the value of MIN is at most alpha, and BRANCH>=BETA where the value "
    "of MAX is at least beta.": (
        "Escriba RAMA<=ALFA donde el valor de MIN es como mucho alfa, y RAMA>=BETA donde el de MAX "
        "es al menos beta."
    ),
    "Click a node to insert its label.": "Haga clic en un nodo para insertar su etiqueta.",
    "answer (empty line: show the key)": "respuesta (línea vacía: mostrar la clave)",
    "answers": "respuestas",
    "check": "comprobar",
    "correct": "correcto",
    "exercise": "ejercicio",
    "exercises": "ejercicios",
    "exercises on search": "ejercicios de búsqueda",
    "first try": "a la primera",
    "for example": "por ejemplo",
    "incorrect": "incorrectos",
    "key": "clave",
    "kind": "tipo",
    "name": "nombre",
    "largest:": "el mayor:",
    "maximum of": "máximo de",
    "minimum of": "mínimo de",
    "next": "siguiente",
    "out of place": "fuera de lugar",
    "points": "puntos",
    "previous": "anterior",
    "save the results": "guardar los resultados",
    "seed": "semilla",
    "show the key": "mostrar la clave",
    "student": "estudiante",
    "wrong": "incorrecto",
    "your answer": "su respuesta",
    "{} ({}) has {} after {}: the opponent will avoid this node": (
        "{} ({}) tiene {} tras {}: el otro jugador evitará este nodo"
    ),
    "{} is a live leaf: it is solved with min(bound, value): {}": (
        "{} es una hoja viva: queda solucionada con mín(cota, valor): {}"
    ),
    "{} is live and MAX moves: all its children are added: {}": (
        "{} está vivo y mueve MAX: se añaden todos sus hijos: {}"
    ),
    "{} is live and MIN moves: its first child is added: {}": (
        "{} está vivo y mueve MIN: se añade su primer hijo: {}"
    ),
    "{} is solved and its parent is a MAX node: the parent is solved: {}": (
        "{} está solucionado y su padre es un nodo MAX: el padre queda solucionado: {}"
    ),
    "{} is solved and its parent is a MIN node: the next child is added: {}": (
        "{} está solucionado y su padre es un nodo MIN: se añade el hijo siguiente: {}"
    ),
    "{} is solved and the last child of a MIN node: the parent is solved: {}": (
        "{} está solucionado y es el último hijo de un nodo MIN: el padre queda solucionado: {}"
    ),
    "invalid answer {} (example: {})": "respuesta no válida {} (ejemplo: {})",
    "{} of {} correct, {} on the first try": "{} de {} correctos, {} a la primera",
    "{} of {} points": "{} de {} puntos",
}
