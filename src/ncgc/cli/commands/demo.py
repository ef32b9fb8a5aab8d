"""`ncgc demo`: one label a class on the digits; label spreading, plain GCN and APPNP, and NCGC on the same splits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.bar import Bar
from rich.table import Table
from rich.text import Text

from ncgc.cli.commands.train import graph_line
from ncgc.cli.screen import Screen, percent, seconds
from ncgc.files import check_folder, whole_folder
from ncgc.runs.config import RunConfig
from ncgc.runs.result import RunResult, json_line, mean, ours

if TYPE_CHECKING:
    from ncgc.datasets import Split
    from ncgc.graph import Graph

# Where NCGC differs from its defaults, chosen by validation accuracy over other splits (benchmarks/demo_settings.py):
# with one label a class the logits must travel far, and the digits are balanced, so exact balance is right.
DEMO_SETTINGS: dict[str, Any] = {"backbone": "appnp", "num_layers": 1, "alpha": 0.02, "steps": 50, "relaxation": 1.0}
PLAIN: dict[str, Any] = {"soft_orthogonality": False, "kl": False, "pl": False}  # a plain backbone
LABELS, VALIDATION, SPLITS = 1, 10, 3
METHODS = ("label spreading", "GCN", "APPNP", "NCGC")


@dataclass(frozen=True)
class Outcome:
    """How one method did on one split."""

    method: str
    seed: int
    accuracy: float
    seconds: float
    result: RunResult | None = None  # of NCGC, to be written


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the results go; replaced each time.")] = Path(
        "runs/demo"
    ),
) -> None:
    """Label 1,797 handwritten digits from one label each of ten, and compare with three simpler ways."""
    check_folder(out, overwrite=True)
    started = time.perf_counter()
    config = RunConfig.from_layers(
        {"dataset": "digits", "split": "few", "labels_per_class": LABELS, "val_per_class": VALIDATION, "runs": SPLITS},
        DEMO_SETTINGS,
    )
    from ncgc.datasets import few_split, load_dataset

    graph = load_dataset(config.dataset)
    splits = [few_split(graph, LABELS, seed=seed, val_per_class=VALIDATION) for seed in config.seeds]
    screen = Screen()
    train, val, test = (len(nodes) for nodes in (splits[0].train, splits[0].val, splits[0].test))
    screen.facts(
        [
            (graph.name, graph_line(graph)),
            ("task", f"{train} labels, one a class; name the other {test:,}"),
            ("splits", f"{SPLITS} at random; {val} more labels choose the epoch"),
            ("NCGC", "here on the backbone APPNP, which carries labels far"),
        ]
    )
    outcomes = list(_compare(graph, splits, config, screen))
    screen.say()
    screen.say(table(outcomes, screen.console.width))
    _write(out, config, outcomes)
    screen.say()
    screen.facts([("took", seconds(time.perf_counter() - started)), ("written", str(out))])
    screen.say()
    screen.say("Next:")
    for command in (f"ncgc train --config {out / 'config.toml'}", "ncgc train cora"):
        screen.console.print(f"  {command}", soft_wrap=True)  # to be copied whole


def _compare(graph: Graph, splits: list[Split], config: RunConfig, screen: Screen) -> Iterator[Outcome]:
    """Every method on every split."""
    from ncgc.cli.progress import fit
    from ncgc.models.ncgc import NCGC
    from ncgc.models.registry import LabelSpreading

    for number, (seed, split) in enumerate(zip(config.seeds, splits, strict=True), start=1):
        start = time.perf_counter()
        spread = LabelSpreading().fit(graph, split).score()
        yield Outcome("label spreading", seed, spread, time.perf_counter() - start)
        for method, settings in (("GCN", PLAIN), ("APPNP", config.parameters | PLAIN), ("NCGC", config.parameters)):
            model = NCGC(**settings, random_state=seed)
            if fit(model, graph, split, screen, f"{method}, split {number} of {len(splits)}"):
                raise KeyboardInterrupt
            result = RunResult.of(model, seed) if method == "NCGC" else None
            yield Outcome(method, seed, model.score(), model.seconds_, result)


def table(outcomes: list[Outcome], width: int) -> Table:
    """Test accuracy of each method on each split, their mean, and the mean as a bar."""
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


def _write(out: Path, config: RunConfig, outcomes: list[Outcome]) -> None:
    """The table as CSV and JSON, NCGC's histories and predictions, and a configuration that trains NCGC again."""
    results = [outcome.result for outcome in outcomes if outcome.result is not None]
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
    with whole_folder(out, overwrite=True, stale=ours) as place:
        (place / "config.toml").write_text(config.to_toml([result.drawn for result in results]), encoding="utf-8")
        (place / "metrics.json").write_text(json_line(metrics, indent=2) + "\n", encoding="utf-8")
        (place / "results.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for result in results:
            (place / f"history-{result.seed}.csv").write_text(result.history, encoding="utf-8")
            (place / f"predictions-{result.seed}.csv").write_text(result.predictions, encoding="utf-8")
