"""`python -m ncgc` is the command `ncgc`."""

import sys

from ncgc.cli import main

if __name__ == "__main__":
    sys.exit(main())
