"""`ncgc demo`: one label per class on the digits; label spreading, plain GCN and APPNP, and NCGC on the same splits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.bar import Bar
from rich.table import Table
from rich.text import Text

from ncgc.cli.screen import Screen, graph_line, percent, seconds
from ncgc.files import check_folder, whole_folder
from ncgc.params.presets import PLAIN
from ncgc.runs.source import DatasetSource
from ncgc.runs.spec import RunSpec, defaults_of

if TYPE_CHECKING:
    from ncgc.runs.result import RunResult

# Where NCGC differs from its defaults, chosen by validation accuracy over other splits (benchmarks/demo_settings.py):
# with one label per class the logits must travel far, and the digits are balanced, so exact balance is right.
DEMO_SETTINGS: dict[str, Any] = {"backbone": "appnp", "num_layers": 1, "alpha": 0.02, "steps": 50, "relaxation": 1.0}
LABELS, VALIDATION, SPLITS = 1, 10, 3
METHODS = ("label spreading", "GCN", "APPNP", "NCGC")  # the last is the one that is shown off


@dataclass(frozen=True)
class Outcome:
    """How one method did on one split."""

    method: str
    seed: int
    accuracy: float
    seconds: float
    result: RunResult | None = None


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write; replaced each time.")] = Path(
        "runs/demo"
    ),
) -> None:
    """Label 1,797 handwritten digits from one label per class, and compare with three simpler methods."""
    check_folder(out, overwrite=True)
    started = time.perf_counter()
    spec = RunSpec(
        DatasetSource("digits", "few", LABELS, VALIDATION), parameters=defaults_of("ncgc") | DEMO_SETTINGS, runs=SPLITS
    )
    from ncgc.runs.load import load

    data = load(spec.data)
    train, val, test = (len(nodes) for nodes in (data.split.train, data.split.val, data.split.test))
    screen = Screen()
    screen.rows(
        [
            (data.graph.name, graph_line(data.graph)),
            ("task", f"{train} labels, one per class; label the other {test:,}"),
            ("splits", f"{SPLITS} at random; {val} more labels choose the epoch"),
            ("NCGC", "with the backbone APPNP, which propagates far"),
        ]
    )
    outcomes = list(_compare(spec, screen))
    screen.say()
    screen.say(table(outcomes, screen.console.width))
    _write(out, spec, outcomes)
    screen.say()
    screen.rows([("took", seconds(time.perf_counter() - started)), ("written", str(out))])
    screen.say()
    screen.say("Next:")
    for command in (f"ncgc train --config {out / 'config.toml'}", "ncgc train cora"):
        screen.console.print(f"  {command}", soft_wrap=True)  # to be copied whole


def _compare(spec: RunSpec, screen: Screen) -> Iterator[Outcome]:
    """Every method on every split."""
    from ncgc.cli.progress import ScreenObserver
    from ncgc.runs.execute import execute

    runs = {
        "label spreading": replace(spec, method="label_spreading", parameters={}),
        "GCN": replace(spec, parameters=PLAIN),
        "APPNP": replace(spec, parameters={**spec.parameters, **PLAIN}),
        "NCGC": spec,
    }
    for number, seed in enumerate(spec.seeds, start=1):
        for method in METHODS:
            observer = ScreenObserver(screen, f"{method}, split {number} of {spec.runs}")
            result = execute(runs[method].with_seed(seed), observer=observer)
            if observer.interrupted:
                raise KeyboardInterrupt
            yield Outcome(method, seed, result.metrics["test_accuracy"], result.seconds, result)


def table(outcomes: list[Outcome], width: int) -> Table:
    """Test accuracy of each method on each split, their mean, and the mean as a bar.

    Args:
        outcomes: of every method on every split.
        width: characters of the terminal; without room for it, the bar is left out.

    Returns:
        One row per method.
    """
    from ncgc.runs.result import mean

    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    shown.add_column("test accuracy", no_wrap=True)
    numbers = sorted({outcome.seed for outcome in outcomes})
    for place in range(len(numbers)):
        shown.add_column(f"split {place + 1}", justify="right", no_wrap=True)
    shown.add_column("mean", justify="right", no_wrap=True)
    bar = min(30, width - 52)  # what the figures leave
    if bar >= 5:
        shown.add_column("")
    for method in METHODS:
        rows = {outcome.seed: outcome.accuracy for outcome in outcomes if outcome.method == method}
        average = mean(list(rows.values())) or 0.0
        own = method == METHODS[-1]
        cells: list[Any] = [Text(percent(rows[seed])) for seed in numbers]
        cells += [Text(percent(average), style="bold")]
        cells += [Bar(1.0, 0.0, average, width=bar, color="cyan" if own else "bright_black")] if bar >= 5 else []
        shown.add_row(Text(method, style="bold cyan" if own else ""), *cells)
    return shown


def _write(out: Path, spec: RunSpec, outcomes: list[Outcome]) -> None:
    """The table as CSV and JSON, NCGC's histories and predictions, and a configuration that trains NCGC again."""
    from ncgc.runs.folder import is_train_file, write_train_files
    from ncgc.runs.result import mean

    results = [o.result for o in outcomes if o.result is not None and o.method == METHODS[-1]]
    lines = ["method,seed,test_accuracy,seconds"]
    lines += [f"{o.method},{o.seed},{o.accuracy:.6f},{o.seconds:.3f}" for o in outcomes]
    metrics = {
        method: {
            "test_accuracy": mean([o.accuracy for o in outcomes if o.method == method]),
            "runs": [
                {"seed": o.seed, "test_accuracy": o.accuracy, "seconds": o.seconds}
                for o in outcomes
                if o.method == method
            ],
        }
        for method in METHODS
    }
    with whole_folder(out, overwrite=True, stale=is_train_file) as place:
        write_train_files(place, spec, results, metrics)
        (place / "results.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
