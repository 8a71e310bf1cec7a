"""Chomp: bite off a square with all above and to the right of it; the last one is poisoned."""


class Chomp:
    def __init__(self, width=4, height=3):
        self.bars = [(width,) * height]  # how long each row still is, from the lowest up

    @property
    def turn(self):
        return (len(self.bars) - 1) % 2

    def moves(self):
        rows = enumerate(self.bars[-1])
        return [(row, column) for row, length in rows for column in range(length)]

    def play(self, move):
        row, column = move
        bar = self.bars[-1]
        self.bars.append(bar[:row] + tuple(min(length, column) for length in bar[row:]))

    def undo(self):
        self.bars.pop()

    def outcome(self):
        if any(self.bars[-1]):
            return None
        return 1 if self.turn == 0 else -1  # who bit off the last one has lost

    def key(self):
        return self.turn, self.bars[-1]

    def text(self, move):
        return f"{chr(ord('a') + move[1])}{move[0] + 1}"

    def __str__(self):
        return "\n".join("#" * length or "." for length in reversed(self.bars[-1]))
