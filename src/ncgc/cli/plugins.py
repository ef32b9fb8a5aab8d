"""Commands of other packages: the entry points of the group `ncgc.commands`, imported when they are needed.

An entry point names a typer application: ``bench = "ncgc_bench.cli.bench:app"``.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

GROUP = "ncgc.commands"
# Entry points are known once a package is installed. A source tree on PYTHONPATH, or one that was installed before the
# entry point was declared, has none; there the benchmark package beside ours is found by its name.
BESIDE = (EntryPoint("bench", "ncgc_bench.cli.bench:app", GROUP),)


@cache
def _plugins() -> dict[str, EntryPoint]:
    beside = {point.name: point for point in BESIDE if find_spec(point.module.partition(".")[0]) is not None}
    return beside | {point.name: point for point in entry_points(group=GROUP)}


def plugin_names() -> list[str]:
    """The commands of other packages.

    Returns:
        Their names, sorted.
    """
    return sorted(_plugins())


@cache
def load_plugin(name: str) -> Any:
    """Import the command of another package.

    Args:
        name: one of :func:`plugin_names`.

    Returns:
        A click command or group.
    """
    import typer

    command = typer.main.get_command(_plugins()[name].load())
    command.name = name
    return command
