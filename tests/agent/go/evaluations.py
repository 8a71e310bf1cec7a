"""Source of user evaluations of Go that prefer one vertex."""

POINT_EVALUATIONS = """
from agent.evaluation import evaluator

# C5 on a board of 7x7.
POINT = 43

def point(game):
    colour = game.stones.board[POINT]
    return 0 if not colour else 5 if colour == game.turn + 1 else -5

@evaluator
def compiled_point(worker, ply):
    colour = worker.board.colours[POINT]
    if colour == 0:
        return 0
    return 5 if colour == worker.board.turn else -5
"""
