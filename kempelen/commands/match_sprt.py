"""`kempelen match sprt`: compute Elo and SPRT from the results of a match."""

import argparse
import json

from kempelen.console.settings_codec import SettingsError, encode
from kempelen.console.terminal import print_error
from kempelen.match.config.settings import SprtModel, SprtSettings
from kempelen.match.rating.match_statistics import estimate_strength
from kempelen.match.rating.standings import sprt_state

EXIT_USAGE_ERROR = 2
# Maximum number of results, which keeps the likelihoods within the range of floats.
MAX_RESULTS = 10**10


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "counts",
        type=int,
        nargs="+",
        help="numbers of losses, draws and wins, or of the pairs LL, LD, LW or DD, DW and WW",
    )
    parser.add_argument("--elo0", type=float, default=0.0, help="null hypothesis (default: 0)")
    parser.add_argument(
        "--elo1", type=float, default=2.0, help="alternative hypothesis (default: 2)"
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        help="probability of wrongly accepting elo1 (default: 0.05)",
    )
    parser.add_argument(
        "--beta",
        type=float,
        default=0.05,
        help="probability of wrongly accepting elo0 (default: 0.05)",
    )
    parser.add_argument(
        "--model",
        choices=[str(model) for model in SprtModel],
        default="normalized",
        help="scale of elo0 and elo1 (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print Elo, normalised Elo, LOS and the SPRT state. Return 2 if an argument is invalid."""
    counts = arguments.counts
    is_valid = min(counts) >= 0 and 0 < sum(counts) <= MAX_RESULTS
    if len(counts) not in (3, 5) or not is_valid:
        print_error(
            f"invalid counts: {' '.join(map(str, counts))} (expected three counts of games or five "
            f"of pairs, not all 0, at most {MAX_RESULTS} in all)"
        )
        return EXIT_USAGE_ERROR
    try:
        sprt = SprtSettings(
            elo0=arguments.elo0,
            elo1=arguments.elo1,
            alpha=arguments.alpha,
            beta=arguments.beta,
            model=SprtModel(arguments.model),
        )
    except SettingsError as error:
        print_error(error)
        return EXIT_USAGE_ERROR
    measured, test = estimate_strength(counts), sprt_state(sprt, counts)
    if arguments.json:
        print(json.dumps({**encode(measured), "test": encode(test)}))
        return 0
    print(f"score           {measured.score:.2%}")
    print(f"Elo             {measured.elo.value:+z.2f} ± {measured.elo.error:.2f}")
    print(f"normalised Elo  {measured.normalized.value:+z.2f} ± {measured.normalized.error:.2f}")
    print(f"LOS             {measured.los:.2%}")
    print(
        f"LLR             {test.llr:+z.5f} in [{test.lower:.5f}, {test.upper:.5f}]: {test.decision}"
    )
    return 0
