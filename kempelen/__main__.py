"""Run the command line with `python -m kempelen`."""

import sys

from kempelen.cli import main

if __name__ == "__main__":
    sys.exit(main())
