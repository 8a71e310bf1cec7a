def alpha_beta(game, depth, alpha, beta, evaluate):
    outcome = game.outcome()
    if outcome is not None:
        return outcome
    if depth == 0:
        return evaluate(game)
    for move in game.moves():
        game.play(move)
        value = alpha_beta(game, depth - 1, alpha, beta, evaluate)
        game.undo()
        if game.turn == 0:
            alpha = max(alpha, value)
        else:
            beta = min(beta, value)
        if alpha >= beta:
            break
    return alpha if game.turn == 0 else beta
