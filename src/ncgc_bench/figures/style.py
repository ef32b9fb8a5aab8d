"""The style of all figures, safe for colour-blind readers, and how they are saved: the same bytes each time."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncgc.errors import NCGCError
from ncgc.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 9.375  # inches: 900 px in an SVG
INK, QUIET, PAPER = "#222222", "#6B6B6B", "#6B6B6B"  # text; axes; the paper's results
ACCENT = "#0077BB"  # our results
# hues of Paul Tol's schemes, each dark enough for text on white
PALETTE = {"gcn": "#0077BB", "gat": "#CC3311", "sage": "#00806F", "gcnii": "#AA3377", "appnp": "#8F6E00"}
MARKERS = {"gcn": "o", "gat": "s", "sage": "^", "gcnii": "D", "appnp": "v"}
DATASET_NAMES = {
    "cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed", "computers": "Computers", "photo": "Photo", "cs": "CS",
    "physics": "Physics",
}  # fmt: skip
OTHER_NAMES = {"label_spreading": "label spreading"}
FAMILY_PALETTE = {
    "ours": "#0077BB", "our backbones, plain": "#5C87A6", "classic": "#8F6E00", "deep": "#AA3377", "augmentation": "#CC3311",
    "pseudo-labels": "#00806F", "no learning": "#6B6B6B",
}  # fmt: skip
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so every machine has it
    "font.size": 9,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "text.color": INK,
    "axes.edgecolor": "#AAAAAA",
    "axes.labelcolor": QUIET,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#EBEBEB",
    "grid.linewidth": 0.8,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "svg.hashsalt": "ncgc",
    "svg.fonttype": "path",
}
# per format; dates and versions would make every file a new one
METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "ncgc"},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": "ncgc", "Producer": None},
}


@contextmanager
def style() -> Iterator[None]:
    """Apply the style inside, whatever the user's own matplotlibrc holds.

    Yields:
        Nothing.

    Raises:
        NCGCError: if matplotlib is not installed.
    """
    try:
        from matplotlib import style as styles
    except ImportError:
        raise NCGCError("Figures need matplotlib; install it with: pip install 'ncgc[bench]'.") from None
    with styles.context(["default", STYLE], after_reset=True):
        yield


def panels(
    names: Sequence[str], title: str, about: str, height: float = 2.05, columns: int = 4
) -> tuple[Figure, list[Axes]]:
    """Make a figure with a title, a line on what is shown, and named panels.

    Args:
        names: titles of the panels.
        title: what the figure shows, as a sentence.
        about: how it was measured, in smaller type.
        height: of a row of panels, in inches.
        columns: panels in a row, at most.

    Returns:
        The figure and its panels, in the order of ``names``.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = min(columns, len(names))
    rows = -(-len(names) // columns)
    tall = 0.85 + rows * height
    layout = ConstrainedLayoutEngine(rect=(0.005, 0.0, 0.99, 1 - 0.62 / tall), wspace=0.04, hspace=0.06)
    figure = Figure(figsize=(WIDTH, tall), layout=layout)
    FigureCanvasAgg(figure)  # measures text; no window and no global state as with pyplot
    head = figure.text(0.012, 1 - 0.12 / tall, title, fontsize=12, fontweight="bold", va="top")
    line = figure.text(0.012, 1 - 0.38 / tall, about, fontsize=8.5, color=QUIET, va="top")
    for text, size in ((head, 12), (line, 8.5)):  # a long one is set smaller, not cut
        text.set_fontsize(size * min(1, 0.976 * figure.bbox.width / text.get_window_extent().width))
    grid = figure.subplots(rows, columns, squeeze=False)
    places = [place for row in grid for place in row]
    for place in places[len(names) :]:
        place.remove()
    for place, name in zip(places, names, strict=False):
        place.set_title(name)
    return figure, places[: len(names)]


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str]) -> list[Path]:
    """Write a figure, one file per format, without date and version: an unchanged figure is an unchanged file.

    Args:
        figure: the figure.
        folder: an existing folder.
        name: of the files, without ending.
        formats: names of :data:`METADATA`.

    Returns:
        The paths of the files.
    """
    paths = []
    for kind in formats:
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=144, metadata=METADATA[kind])
        paths.append(folder / f"{name}.{kind}")
        write_bytes(paths[-1], buffer.getvalue())
    return paths


def listed(words: Sequence[str]) -> str:
    """Words with commas, and "and" before the last.

    Args:
        words: at least one.

    Returns:
        The text.

    >>> listed(["GCN"]), listed(["GCN", "GAT", "APPNP"])
    ('GCN', 'GCN, GAT and APPNP')
    """
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
