def minimax(game, depth, evaluate):
    outcome = game.outcome()
    if outcome is not None:
        return outcome
    if depth == 0:
        return evaluate(game)
    values = []
    for move in game.moves():
        game.play(move)
        values.append(minimax(game, depth - 1, evaluate))
        game.undo()
    return min(values) if game.turn else max(values)
