"""`python -m ncgc` is the command `ncgc`; under torchrun it is one process of many."""

import os
import sys

from ncgc.cli import main
from ncgc.cli.processes import run_process

if __name__ == "__main__":
    if "WORLD_SIZE" in os.environ:
        run_process(sys.argv[1:])
    sys.exit(main())
