"""The command line: one file in commands/ for each command. Errors are a sentence and an exit code, never a traceback.

Exit codes: 0 done, 2 wrong input, 3 another process of a distributed training was lost, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: the words after ``ncgc``; default: those of this process.

    Returns:
        The exit code.
    """
    try:
        from ncgc.cli.app import run  # here, so that Ctrl-C while it loads is one line too

        return run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
