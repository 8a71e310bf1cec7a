"""Search parameters as UCI options, for use by tuning programs."""

from functools import partial

from agent.chess.search.parameters import PARAMETERS, Parameter
from protocols.uci.options import Option
from protocols.uci.protocol import UciProtocol


def tuning_options() -> tuple[Option[UciProtocol], ...]:
    return tuple(
        Option(
            parameter.name,
            "spin",
            partial(_set, parameter),
            default=parameter.default,
            min=parameter.minimum,
            max=parameter.maximum,
            requires_trust=True,  # All sessions of the process share the parameters.
        )
        for parameter in PARAMETERS.values()
    )


def _set(parameter: Parameter, uci: UciProtocol, value: int) -> None:
    uci.change_engine(lambda engine: parameter.set(value))
