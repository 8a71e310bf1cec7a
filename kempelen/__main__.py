"""`python -m kempelen`: the command line, where its folder is not on PATH."""

import sys

from kempelen.cli import main

if __name__ == "__main__":
    sys.exit(main())
