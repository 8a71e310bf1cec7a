"""Steps along gradients by PyTorch, on a graphics processor or on whatever it runs on.

The same arithmetic as the compiled steps, whose sums have another order: outputs and gradients
are those of the rounded network, AdamW changes what it was rounded from, and weights are clipped.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from agent.chess.network_format import INPUTS, SCORE_ONE
from agent.chess.network_inputs import MOST_PIECES, output_of
from training.checkpoint import Checkpoint
from training.descent import LARGEST, targets_of
from training.gradients import FADE, FADE_SQUARE, LEAST_ROOT, Floats, NetworkShape, places_of
from training.network_settings import Target, TrainingError
from training.positions import Packed

REMEDY = "pip install 'kempelen[train-gpu]', or leave `device` out"
# Of positions whose outputs are wanted: so many at a time.
_AT_ONCE = 1 << 14


Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


def _refusing(work: Callable[Arguments, Found]) -> Callable[Arguments, Found]:
    """Let what PyTorch cannot do, as for want of memory, be a TrainingError."""

    @wraps(work)
    def refusing(*arguments: Arguments.args, **named: Arguments.kwargs) -> Found:
        try:
            return work(*arguments, **named)
        except RuntimeError as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise TrainingError(
                f"device: PyTorch has failed: {reason}; take a smaller batch, or fewer neurons, or "
                "leave `device` out"
            ) from None

    return refusing


class TorchDescent:
    """Steps that PyTorch makes on a device, by its name there: cpu, cuda, cuda:1, mps."""

    def __init__(
        self, shape: NetworkShape, target: Target, decay: float, device: str, threads: int = 0
    ) -> None:
        """Find the device; TrainingError if there is none of that name.

        threads: of the processor, where that is the device; 0 for as many as PyTorch takes.
        """
        try:
            import torch
        except ImportError:
            raise TrainingError(f"device: PyTorch is missing; {REMEDY}") from None
        self._torch = torch
        try:
            self._device = torch.device(device)
            self._ones = torch.ones(shape.padded, device=self._device)
        except (AssertionError, RuntimeError) as error:  # no such name, or no such device here
            reason = str(error).splitlines()[0]
            raise TrainingError(f"device: PyTorch cannot use {device!r} here: {reason}") from None
        if threads:
            torch.set_num_threads(threads)
        for begin, end, one in shape.scales:
            self._ones[begin:end] = float(one)
        self._shape = shape
        self._target = target
        self._decay = decay

    @_refusing
    def begin(self, made: Checkpoint) -> None:
        """Copy the run to the device."""
        self._parameters, self._means, self._squares = (
            self._on_device(each) for each in (made.parameters, made.means, made.squares)
        )

    @_refusing
    def step(self, batch: Packed, number: int, rate: float) -> float:
        """Make a step."""
        torch = self._torch
        rounded = self._rounded().requires_grad_()
        expected = torch.sigmoid(self._judge(batch, rounded) * (SCORE_ONE / self._target.scale))
        targets = targets_of(batch, self._target).astype(np.float32)
        loss = torch.mean((expected - self._on_device(targets)) ** 2)
        loss.backward()
        gradient = rounded.grad
        self._means.mul_(FADE).add_(gradient, alpha=1 - FADE)
        self._squares.mul_(FADE_SQUARE).addcmul_(gradient, gradient, value=1 - FADE_SQUARE)
        root = (self._squares / (1 - FADE_SQUARE**number)).sqrt_().add_(LEAST_ROOT)
        self._parameters.mul_(1 - rate * self._decay)
        self._parameters.addcdiv_(self._means, root, value=-rate / (1 - FADE**number))
        self._parameters.clamp_(-LARGEST, LARGEST)
        return float(loss.detach())

    @_refusing
    def finish(self, made: Checkpoint) -> Floats:
        """Copy the run back from the device."""
        kept = (self._parameters, self._means, self._squares)
        for row, tensor in zip((made.parameters, made.means, made.squares), kept, strict=True):
            row[:] = tensor.cpu().numpy()
        rounded: Floats = self._rounded().cpu().numpy()
        return rounded

    @_refusing
    def outputs(self, positions: Packed) -> Floats:
        """Return what the network says of each position."""
        rounded = self._rounded()
        with self._torch.no_grad():
            found = [
                self._judge(positions[start : start + _AT_ONCE], rounded).cpu().numpy()
                for start in range(0, len(positions), _AT_ONCE)
            ]
        return np.concatenate(found)

    def close(self) -> None:
        """Nothing is held but memory, which goes with this."""

    def _on_device(self, values: Any) -> Any:
        return self._torch.tensor(values, device=self._device)

    def _rounded(self) -> Any:
        return self._torch.round(self._parameters * self._ones) / self._ones

    def _judge(self, positions: Packed, parameters: Any) -> Any:
        """Return the network's outputs, (positions,), for numbers in a row as in a checkpoint."""
        torch, shape = self._torch, self._shape
        places, counts = places_of(positions)
        # What a view does not set adds the row after the last, which is of zeros.
        unused = np.arange(MOST_PIECES) >= counts[:, None]
        places = np.where(unused[:, None], INPUTS, places)
        rows = parameters[: shape.biases].view(INPUTS, shape.neurons)
        table = torch.cat((rows, rows.new_zeros(1, shape.neurons)))
        sums = torch.nn.functional.embedding_bag(
            self._on_device(places.reshape(-1, MOST_PIECES)), table, mode="sum"
        )
        biases = parameters[shape.biases : shape.outputs]
        active = (sums + biases).clamp(0, 1).square().view(len(positions), 2 * shape.neurons)
        weights = parameters[shape.outputs : shape.output_biases].view(shape.buckets, -1)
        chosen = self._on_device(output_of(counts, shape.buckets))
        output_biases = parameters[shape.output_biases : shape.size]
        return (active * weights[chosen]).sum(1) + output_biases[chosen]
