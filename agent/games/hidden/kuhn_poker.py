"""Kuhn poker: three cards, one card each, one bet.

The game is worth -1/18 to the first player.

Source: H. Kuhn, 'A simplified two-person poker' (1950).
"""

from collections.abc import Hashable

from agent.game import CHANCE

CARDS = "JQK"
PASS, BET = "pass", "bet"
# Betting sequences that end the game.
ENDS = ((PASS, PASS), (PASS, BET, PASS), (PASS, BET, BET), (BET, PASS), (BET, BET))
DEALS = tuple(first + second for first in CARDS for second in CARDS if first != second)


class KuhnPoker:
    """Each player antes 1 and gets a card. Players pass or bet 1; the higher card wins.

    A player who passes after a bet has folded. The first move is the deal, such as "QK".
    """

    def __init__(self) -> None:
        self._deal = ""
        self._bets: list[str] = []

    @property
    def turn(self) -> int:
        """The player to move, or CHANCE before the deal."""
        return len(self._bets) % 2 if self._deal else CHANCE

    def moves(self) -> list[str]:
        """Return the deals, or pass and bet."""
        if not self._deal:
            return list(DEALS)
        return [] if tuple(self._bets) in ENDS else [PASS, BET]

    def chance_outcomes(self) -> list[tuple[str, float]]:
        """Return the deals, which are equally likely."""
        return [(deal, 1 / len(DEALS)) for deal in DEALS]

    def play(self, move: str) -> None:
        """Deal, pass or bet."""
        if self._deal:
            self._bets.append(move)
        else:
            self._deal = move

    def undo(self) -> None:
        """Undo the last move or the deal."""
        if self._bets:
            self._bets.pop()
        else:
            self._deal = ""

    def outcome(self) -> float | None:
        """Return the profit of the first player, or None if the game is not over."""
        bets = tuple(self._bets)
        if bets not in ENDS:
            return None
        if bets[-2:] == (BET, PASS):
            return 1 if len(bets) == 2 else -1
        stake = 2 if bets[-1] == BET else 1
        first, second = map(CARDS.index, self._deal)
        return stake if first > second else -stake

    def key(self) -> Hashable:
        """Return the deal and the bets."""
        return self._deal, tuple(self._bets)

    def information(self) -> str:
        """Return the mover's card and the bets so far."""
        return " ".join([self._deal[self.turn], *self._bets])

    def text(self, move: str) -> str:
        """Return the move itself, which is text."""
        return move

    def __str__(self) -> str:
        return " ".join([self._deal or "?", *self._bets])
