"""Run the command line with `python -m kempelen` if the `kempelen` script is not on the PATH."""

import sys

from kempelen.cli import main

if __name__ == "__main__":
    sys.exit(main())
