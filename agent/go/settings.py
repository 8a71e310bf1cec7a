"""Settings of the Go search: names, default values, ranges and indices."""

from typing import NamedTuple


class Setting(NamedTuple):
    default: float
    low: float
    high: float


SETTINGS: dict[str, Setting] = {
    # Probabilities of applying the playout rules.
    "capture": Setting(0.9, 0.0, 1.0),
    "nakade": Setting(0.8, 0.0, 1.0),
    "two_liberties": Setting(0.2, 0.0, 1.0),
    "pattern": Setting(0.95, 0.0, 1.0),
    "self_atari": Setting(0.6, 0.0, 1.0),  # probability of rejecting a small self-atari
    # Tree: number of visits at which a leaf is expanded, number of visits at which RAVE and the
    # mean have equal weight, and reduction of RAVE's weight for later moves.
    "expansion": Setting(6.0, 1.0, 50.0),
    "rave": Setting(3000.0, 10.0, 20000.0),
    "distance": Setting(0.5, 0.0, 1.0),
    "exploration": Setting(0.0, 0.0, 2.0),
    # Weight of criticality in RAVE, and minimum number of playouts of the parent.
    "criticality": Setting(0.0, 0.0, 10.0),
    "criticality_from": Setting(2000.0, 1.0, 1e6),
    # Weight of a user evaluation in a leaf's value. The rest is the playout's weight.
    "evaluation_share": Setting(1.0, 0.0, 1.0),
    # Priors: number of visits, won or lost, that a move gets for each property.
    "even": Setting(10.0, 0.0, 100.0),
    "near_1": Setting(24.0, 0.0, 100.0),
    "near_2": Setting(22.0, 0.0, 100.0),
    "near_3": Setting(8.0, 0.0, 100.0),
    "captures_one": Setting(15.0, 0.0, 100.0),
    "captures_many": Setting(30.0, 0.0, 100.0),
    "pattern_3x3": Setting(10.0, 0.0, 100.0),
    "empty_edge": Setting(10.0, 0.0, 100.0),
    "corner": Setting(20.0, 0.0, 100.0),
    "self_atari_prior": Setting(10.0, 0.0, 100.0),
    "ladder": Setting(30.0, 0.0, 100.0),
    "passing": Setting(10.0, 0.0, 100.0),
    "territory": Setting(0.0, 0.0, 100.0),
    # Number of visits for the move with the best learned rating. Other moves get fewer.
    "learned": Setting(40.0, 0.0, 500.0),
    # Network: number of visits at which it evaluates a node, weight of its value, number of prior
    # visits of its best move, and constant of the exploration by its move probabilities.
    "network_visits": Setting(8.0, 1.0, 1e9),
    "network_share": Setting(0.95, 0.0, 1.0),
    "network_prior": Setting(60.0, 0.0, 500.0),
    "network_exploration": Setting(0.3, 0.0, 5.0),
}
SETTING_INDEX = {name: number for number, name in enumerate(SETTINGS)}


def check_setting(name: str, value: float) -> None:
    """Raise ValueError if the setting is unknown or the value is out of range."""
    setting = SETTINGS.get(name)
    if setting is None:
        raise ValueError(f"unknown setting {name} (expected one of: {', '.join(SETTINGS)})")
    if not setting.low <= value <= setting.high:
        raise ValueError(f"{name} must be from {setting.low:g} to {setting.high:g}")


CAPTURE = SETTING_INDEX["capture"]
NAKADE = SETTING_INDEX["nakade"]
TWO_LIBERTIES = SETTING_INDEX["two_liberties"]
PATTERN = SETTING_INDEX["pattern"]
SELF_ATARI = SETTING_INDEX["self_atari"]
EXPANSION = SETTING_INDEX["expansion"]
RAVE = SETTING_INDEX["rave"]
DISTANCE = SETTING_INDEX["distance"]
EXPLORATION = SETTING_INDEX["exploration"]
CRITICALITY = SETTING_INDEX["criticality"]
CRITICALITY_FROM = SETTING_INDEX["criticality_from"]
EVALUATION_SHARE = SETTING_INDEX["evaluation_share"]
EVEN = SETTING_INDEX["even"]
NEAR_1 = SETTING_INDEX["near_1"]
NEAR_2 = SETTING_INDEX["near_2"]
NEAR_3 = SETTING_INDEX["near_3"]
CAPTURES_ONE = SETTING_INDEX["captures_one"]
CAPTURES_MANY = SETTING_INDEX["captures_many"]
PATTERN_3X3 = SETTING_INDEX["pattern_3x3"]
EMPTY_EDGE = SETTING_INDEX["empty_edge"]
CORNER = SETTING_INDEX["corner"]
SELF_ATARI_PRIOR = SETTING_INDEX["self_atari_prior"]
LADDER = SETTING_INDEX["ladder"]
PASSING = SETTING_INDEX["passing"]
TERRITORY = SETTING_INDEX["territory"]
LEARNED = SETTING_INDEX["learned"]
NETWORK_VISITS = SETTING_INDEX["network_visits"]
NETWORK_SHARE = SETTING_INDEX["network_share"]
NETWORK_PRIOR = SETTING_INDEX["network_prior"]
NETWORK_EXPLORATION = SETTING_INDEX["network_exploration"]
