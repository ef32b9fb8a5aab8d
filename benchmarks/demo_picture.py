"""Draw docs/demo.svg, the picture in README.md, from the results of `ncgc demo`.

ncgc demo && python benchmarks/demo_picture.py
"""

from __future__ import annotations

import csv
import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ncgc import load_dataset
from ncgc.cli.commands.demo import Outcome, table
from ncgc.cli.screen import graph_line
from ncgc.files import write_text

ROOT = Path(__file__).parent.parent
WIDTH = 84


def main() -> None:
    """Draw the terminal of `ncgc demo` as an SVG."""
    results = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/demo") / "results.csv"
    if not results.exists():
        sys.exit(f"Error: {results} is not there; run 'ncgc demo' first or name its folder.")
    rows = list(csv.DictReader(results.open(encoding="utf-8")))
    outcomes = [Outcome(r["method"], int(r["seed"]), float(r["test_accuracy"]), float(r["seconds"])) for r in rows]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    graph = load_dataset("digits")
    console.print("$ make demo", style="bold", highlight=False)
    notes = Table.grid(padding=(0, 2))
    notes.add_column(style="bold cyan")
    notes.add_row("digits", graph_line(graph))
    notes.add_row("task", "10 labels, one per class; label the other 1,687\n")
    console.print(notes, highlight=False)
    console.print(table(outcomes, WIDTH))
    drawn = console.export_svg(title="ncgc demo")
    drawn = re.sub(
        r"@font-face \{.*?\}\n", "", drawn, flags=re.DOTALL
    )  # the reader's own font, so that the picture loads nothing
    write_text(ROOT / "docs" / "demo.svg", drawn)


if __name__ == "__main__":
    main()
