WORTH = [0, 1, 4, 16, 100]


def evaluate(game):
    grid = game.grid()
    height, width = len(grid), len(grid[0])
    value = 0
    for row in range(height):
        for column in range(width):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if row + 3 * down < height and 0 <= column + 3 * right < width:
                    line = [grid[row + step * down][column + step * right] for step in range(4)]
                    mine, theirs = line.count("m"), line.count("t")
                    if not theirs:
                        value += WORTH[mine]
                    elif not mine:
                        value -= WORTH[theirs]
    return value
