"""Training positions that are read from their files in each epoch, in a random order."""

from collections.abc import Callable

import numpy as np

from agent.chess.board.packed_position import packed_dtype
from kempelen.training.dataset import Dataset
from kempelen.training.dataset_blocks import Mask, Packed
from kempelen.training.network_settings import Target
from kempelen.training.td_targets import lambda_returns

_BLOCKS, _POSITIONS = range(2)  # streams of random numbers


class SelectedPositions:
    """The positions of a dataset that training uses, with their targets, by block."""

    def __init__(
        self,
        dataset: Dataset,
        part: int,
        mask: Callable[[Packed], Mask],
        target: Target,
    ) -> None:
        """`part` is as in `Dataset`. `mask` selects positions after targets are set."""
        self._dataset = dataset
        self._part = part
        self._mask = mask
        self._target = target

    @property
    def blocks(self) -> int:
        return self._dataset.block_count

    def read(self, block: int) -> Packed:
        positions, games = self._dataset.block(block, self._part)
        if self._target.trace_decay:
            positions = positions.copy()
            for game in np.split(positions, np.flatnonzero(np.diff(games)) + 1):
                returns = lambda_returns(game, self._target.trace_decay, self._target.scale)
                game["score"] = returns  # a view of `positions`
        selected: Packed = positions[self._mask(positions)]
        return selected


class StreamedPositions:
    """Reads random blocks in each epoch, and shuffles the positions of several blocks together."""

    def __init__(self, source: SelectedPositions, counts: list[int], pool: int) -> None:
        """Take the number of positions in each block, and the number to shuffle together."""
        self._source = source
        self._counts = np.array(counts, np.int64)
        self._pool = pool
        self._epoch: tuple[int, int] | None = None
        self._order = self._last_blocks = self._ends = np.zeros(0, np.int64)
        self._shuffled = np.zeros(0, packed_dtype)
        self._shuffled_pool: int | None = None

    def __len__(self) -> int:
        return int(self._counts.sum())

    def take(self, seed: int, epoch: int, begin: int, count: int) -> Packed:
        """Return between 1 and `count` positions of an epoch, from its position `begin`."""
        if self._epoch != (seed, epoch):
            self._divide_into_pools(seed, epoch)
        pool = int(np.searchsorted(self._ends, begin, side="right"))
        if pool != self._shuffled_pool:
            first = int(self._last_blocks[pool - 1]) + 1 if pool else 0
            blocks = self._order[first : int(self._last_blocks[pool]) + 1]
            positions = np.concatenate([self._source.read(int(block)) for block in blocks])
            generator = np.random.default_rng((seed, _POSITIONS, epoch, pool))
            self._shuffled = np.take(positions, generator.permutation(len(positions)))
            self._shuffled_pool = pool
        first = begin - (int(self._ends[pool - 1]) if pool else 0)
        return self._shuffled[first : first + count]

    def _divide_into_pools(self, seed: int, epoch: int) -> None:
        generator = np.random.default_rng((seed, _BLOCKS, epoch))
        self._order = generator.permutation(len(self._counts))
        counts = self._counts[self._order]
        ends = np.cumsum(counts)
        pools = (ends - counts) // self._pool
        self._last_blocks = np.flatnonzero(np.diff(pools, append=pools[-1] + 1))
        self._ends = ends[self._last_blocks]
        self._epoch, self._shuffled_pool = (seed, epoch), None
