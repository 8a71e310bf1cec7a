"""The search's constants as UCI options, for tuners."""

from functools import partial

from agent.chess.search.parameters import PARAMETERS, Parameter
from protocols.uci.options import Option
from protocols.uci.protocol import UciProtocol


def tuning_options() -> tuple[Option[UciProtocol], ...]:
    """Make an option of every constant of the search."""
    return tuple(
        Option(
            parameter.name,
            "spin",
            partial(_set, parameter),
            default=parameter.default,
            min=parameter.minimum,
            max=parameter.maximum,
            requires_trust=True,  # all sessions of a process search by the same constants
        )
        for parameter in PARAMETERS.values()
    )


def _set(parameter: Parameter, uci: UciProtocol, value: int) -> None:
    uci.change_engine(lambda engine: parameter.set(value))
