"""The figures, drawn from the store through the plans: runs that are missing are left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ncgc.errors import OutputError, ParameterError
from ncgc.params.parameter import unknown_name
from ncgc_bench.figures.ablation import draw_ablations
from ncgc_bench.figures.labels import draw_labels
from ncgc_bench.figures.leaderboard import draw_leaderboard
from ncgc_bench.figures.speed import draw_speed
from ncgc_bench.figures.style import METADATA, save, style
from ncgc_bench.figures.sweeps import draw_sweeps
from ncgc_bench.store import Store

DRAWINGS = (draw_sweeps, draw_ablations, draw_labels, draw_speed, draw_leaderboard)


def draw_all(store: Store, folder: Path, settings: str = "default", formats: Sequence[str] = ("svg",)) -> list[Path]:
    """Draw every figure that the store has runs for, and return the files in the order they were drawn.

    Sweeps of β, ε and T and the ablation, one figure per backbone; accuracy against labels per class; accuracy against
    seconds; the leaderboard. A cell shows the runs that are stored; a figure without any is not drawn.

    Args:
        store: the stored runs.
        folder: where the files go; made if need be.
        settings: name of the settings whose runs are drawn.
        formats: of svg, png and pdf.

    Returns:
        The paths of the files.

    Raises:
        ParameterError: a format or the settings are unknown.
        OutputError: the folder cannot be made.

    >>> import tempfile
    >>> draw_all(Store(tempfile.mkdtemp()), Path(tempfile.mkdtemp()))
    []
    """
    for kind in formats:
        if kind not in METADATA:
            raise ParameterError(unknown_name(kind, METADATA, "format of a figure"))
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"The figures cannot be written to {folder} ({error.strerror}); give another place."
        ) from None
    paths: list[Path] = []
    with style():
        for draw in DRAWINGS:
            for name, figure in draw(store, settings).items():
                paths += save(figure, folder, name, formats)
    return paths


__all__ = ["draw_all"]
