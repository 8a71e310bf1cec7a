"""Search parameters as UCI options, for use by tuning programs."""

from functools import partial

from agent.chess.search.parameters import PARAMETERS, Parameter
from protocols.uci.chess_session import ChessSession
from protocols.uci.options import Option


def tuning_options() -> tuple[Option, ...]:
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


def _set(parameter: Parameter, session: ChessSession, value: int) -> None:
    session.change_engine(lambda engine: parameter.set(value))
