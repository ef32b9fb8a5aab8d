"""`python -m ncgc` is the command `ncgc`; among several processes, one of them."""

import os
import sys

from ncgc.cli import main
from ncgc.cli.processes import run_process

if __name__ == "__main__":
    if "WORLD_SIZE" not in os.environ:
        sys.exit(main())
    code = run_process(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # gloo's threads may still wait for a process that is gone
