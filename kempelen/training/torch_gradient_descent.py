"""Gradient descent with PyTorch, like the compiled kernels except for the order of summation."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from agent.chess.evaluation.nnue_features import MAX_PIECES, output_bucket
from agent.chess.evaluation.nnue_format import INPUTS, SCORE_SCALE
from agent.io.requirements import missing_packages
from kempelen.training.checkpoint import Checkpoint
from kempelen.training.dataset import Packed
from kempelen.training.gradient_descent import MAX_PARAMETER, training_targets
from kempelen.training.gradients import BETA1, BETA2, EPSILON, Floats, NetworkShape, input_indices
from kempelen.training.network_settings import Target, TrainingError

# Batch size for network outputs.
_OUTPUT_BATCH = 1 << 14


Arguments = ParamSpec("Arguments")
SearchResult = TypeVar("SearchResult")


def _raise_training_errors(
    work: Callable[Arguments, SearchResult],
) -> Callable[Arguments, SearchResult]:
    @wraps(work)
    def wrapper(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> SearchResult:
        try:
            return work(*arguments, **keywords)
        except RuntimeError as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise TrainingError(
                f"device: PyTorch failed: {reason} (use a smaller batch or fewer neurons, or "
                "remove `device`)"
            ) from None

    return wrapper


class TorchGradientDescent:
    """Performs training steps on a PyTorch device such as cpu, cuda, cuda:1 or mps."""

    def __init__(
        self, shape: NetworkShape, target: Target, decay: float, device: str, threads: int = 0
    ) -> None:
        """Initialise the device. Raise TrainingError if the device is not available.

        `threads` is the number of CPU threads, or 0 for the default of PyTorch.
        """
        try:
            import torch
        except ImportError:
            raise TrainingError(
                f"{missing_packages('device', 'train-gpu')} (or remove `device`)"
            ) from None
        self._torch = torch
        try:
            self._device = torch.device(device)
            self._ones = torch.ones(shape.padded_size, device=self._device)
        except (AssertionError, RuntimeError) as error:  # unknown or unavailable device
            reason = str(error).splitlines()[0]
            raise TrainingError(f"device: PyTorch cannot use {device!r}: {reason}") from None
        if threads:
            torch.set_num_threads(threads)
        for begin, end, one in shape.file_scales:
            self._ones[begin:end] = float(one)
        self._shape = shape
        self._target = target
        self._decay = decay

    @_raise_training_errors
    def load(self, checkpoint: Checkpoint) -> None:
        self._parameters, self._means, self._squares = (
            self._on_device(array)
            for array in (checkpoint.parameters, checkpoint.means, checkpoint.squares)
        )

    @_raise_training_errors
    def step(self, batch: Packed, number: int, rate: float) -> float:
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
    def store(self, checkpoint: Checkpoint) -> Floats:
        tensors = (self._parameters, self._means, self._squares)
        for row, tensor in zip(
            (checkpoint.parameters, checkpoint.means, checkpoint.squares), tensors, strict=True
        ):
            row[:] = tensor.cpu().numpy()
        rounded: Floats = self._rounded().cpu().numpy()
        return rounded

    @_raise_training_errors
    def outputs(self, positions: Packed) -> Floats:
        rounded = self._rounded()
        with self._torch.no_grad():
            outputs = [
                self._judge(positions[start : start + _OUTPUT_BATCH], rounded).cpu().numpy()
                for start in range(0, len(positions), _OUTPUT_BATCH)
            ]
        return np.concatenate(outputs)

    def close(self) -> None:
        """Do nothing, because PyTorch releases the memory automatically."""

    def _on_device(self, values: Any) -> Any:
        return self._torch.tensor(values, device=self._device)

    def _rounded(self) -> Any:
        return self._torch.round(self._parameters * self._ones) / self._ones

    def _judge(self, positions: Packed, parameters: Any) -> Any:
        torch, shape = self._torch, self._shape
        indices, counts = input_indices(positions)
        # Unused entries select an extra row of zeros after the last row.
        unused = np.arange(MAX_PIECES) >= counts[:, None]
        indices = np.where(unused[:, None], INPUTS, indices)
        rows = parameters[: shape.biases_start].view(INPUTS, shape.neurons)
        table = torch.cat((rows, rows.new_zeros(1, shape.neurons)))
        sums = torch.nn.functional.embedding_bag(
            self._on_device(indices.reshape(-1, MAX_PIECES)), table, mode="sum"
        )
        biases = parameters[shape.biases_start : shape.outputs_start]
        active = (sums + biases).clamp(0, 1).square().view(len(positions), 2 * shape.neurons)
        weights = parameters[shape.outputs_start : shape.output_biases_start].view(
            shape.buckets, -1
        )
        buckets = self._on_device(output_bucket(counts, shape.buckets))
        output_biases = parameters[shape.output_biases_start : shape.size]
        return (active * weights[buckets]).sum(1) + output_biases[buckets]
