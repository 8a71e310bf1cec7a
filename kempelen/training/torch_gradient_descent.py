"""Steps along gradients by PyTorch, on a graphics processor or on whatever it runs on.

The same arithmetic as the compiled steps, whose sums have another order: outputs and gradients
are those of the rounded network, AdamW changes what it was rounded from, and weights are clipped.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from agent.chess.evaluation.nnue_features import MAX_PIECES, output_bucket
from agent.chess.evaluation.nnue_format import INPUTS, SCORE_SCALE
from kempelen.training.checkpoint import Checkpoint
from kempelen.training.dataset import Packed
from kempelen.training.gradient_descent import MAX_PARAMETER, training_targets
from kempelen.training.gradients import BETA1, BETA2, EPSILON, Floats, NetworkShape, input_indices
from kempelen.training.network_settings import Target, TrainingError

REMEDY = "pip install 'kempelen[train-gpu]', or leave `device` out"
# Of positions whose outputs are wanted: so many at a time.
_OUTPUT_BATCH = 1 << 14


Arguments = ParamSpec("Arguments")
SearchResult = TypeVar("SearchResult")


def _raise_training_errors(
    work: Callable[Arguments, SearchResult],
) -> Callable[Arguments, SearchResult]:
    """Let what PyTorch cannot do, as for want of memory, be a TrainingError."""

    @wraps(work)
    def refusing(*arguments: Arguments.args, **named: Arguments.kwargs) -> SearchResult:
        try:
            return work(*arguments, **named)
        except RuntimeError as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise TrainingError(
                f"device: PyTorch has failed: {reason}; take a smaller batch, or fewer neurons, or "
                "leave `device` out"
            ) from None

    return refusing


class TorchGradientDescent:
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
            self._ones = torch.ones(shape.padded_size, device=self._device)
        except (AssertionError, RuntimeError) as error:  # no such name, or no such device here
            reason = str(error).splitlines()[0]
            raise TrainingError(f"device: PyTorch cannot use {device!r} here: {reason}") from None
        if threads:
            torch.set_num_threads(threads)
        for begin, end, one in shape.file_scales:
            self._ones[begin:end] = float(one)
        self._shape = shape
        self._target = target
        self._decay = decay

    @_raise_training_errors
    def load(self, made: Checkpoint) -> None:
        """Copy the run to the device."""
        self._parameters, self._means, self._squares = (
            self._on_device(each) for each in (made.parameters, made.means, made.squares)
        )

    @_raise_training_errors
    def step(self, batch: Packed, number: int, rate: float) -> float:
        """Make a step."""
        torch = self._torch
        rounded = self._rounded().requires_grad_()
        expected = torch.sigmoid(self._judge(batch, rounded) * (SCORE_SCALE / self._target.scale))
        targets = training_targets(batch, self._target).astype(np.float32)
        loss = torch.mean((expected - self._on_device(targets)) ** 2)
        loss.backward()
        gradient = rounded.grad
        self._means.mul_(BETA1).add_(gradient, alpha=1 - BETA1)
        self._squares.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        root = (self._squares / (1 - BETA2**number)).sqrt_().add_(EPSILON)
        self._parameters.mul_(1 - rate * self._decay)
        self._parameters.addcdiv_(self._means, root, value=-rate / (1 - BETA1**number))
        self._parameters.clamp_(-MAX_PARAMETER, MAX_PARAMETER)
        return float(loss.detach())

    @_raise_training_errors
    def store(self, made: Checkpoint) -> Floats:
        """Copy the run back from the device."""
        kept = (self._parameters, self._means, self._squares)
        for row, tensor in zip((made.parameters, made.means, made.squares), kept, strict=True):
            row[:] = tensor.cpu().numpy()
        rounded: Floats = self._rounded().cpu().numpy()
        return rounded

    @_raise_training_errors
    def outputs(self, positions: Packed) -> Floats:
        """Return what the network says of each position."""
        rounded = self._rounded()
        with self._torch.no_grad():
            found = [
                self._judge(positions[start : start + _OUTPUT_BATCH], rounded).cpu().numpy()
                for start in range(0, len(positions), _OUTPUT_BATCH)
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
        places, counts = input_indices(positions)
        # What a view does not set adds the row after the last, which is of zeros.
        unused = np.arange(MAX_PIECES) >= counts[:, None]
        places = np.where(unused[:, None], INPUTS, places)
        rows = parameters[: shape.biases_start].view(INPUTS, shape.neurons)
        table = torch.cat((rows, rows.new_zeros(1, shape.neurons)))
        sums = torch.nn.functional.embedding_bag(
            self._on_device(places.reshape(-1, MAX_PIECES)), table, mode="sum"
        )
        biases = parameters[shape.biases_start : shape.outputs_start]
        active = (sums + biases).clamp(0, 1).square().view(len(positions), 2 * shape.neurons)
        weights = parameters[shape.outputs_start : shape.output_biases_start].view(
            shape.buckets, -1
        )
        chosen = self._on_device(output_bucket(counts, shape.buckets))
        output_biases = parameters[shape.output_biases_start : shape.size]
        return (active * weights[chosen]).sum(1) + output_biases[chosen]
