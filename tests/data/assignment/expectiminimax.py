def expectiminimax(game, depth, evaluate):
    outcome = game.outcome()
    if outcome is not None:
        return outcome
    if game.turn == 2:
        mean = 0
        for event, probability in game.chance_outcomes():
            game.play(event)
            mean += probability * expectiminimax(game, depth, evaluate)
            game.undo()
        return mean
    if depth == 0:
        return evaluate(game)
    values = []
    for move in game.moves():
        game.play(move)
        values.append(expectiminimax(game, depth - 1, evaluate))
        game.undo()
    return min(values) if game.turn else max(values)
