"""`python benchmarks/speed.py`: measure and print timings, or take one measurement in a process of its own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from ncgc.datasets import load_dataset
from ncgc.errors import NCGCError
from ncgc_bench.plans import DATASETS
from ncgc_bench.speed.epochs import WAYS, Options, kept_memory_gain, measure, peak_memory
from ncgc_bench.speed.methods import NETWORKS, measure_method
from ncgc_bench.speed.tables import as_table, means, read_rows


def compare(datasets: Sequence[str], options: Options, as_json: bool = False) -> None:
    """Measure one data set after the other and print the table, or one JSON line each and one with the means.

    Args:
        datasets: names of the data sets.
        options: what to measure.
        as_json: whether to print JSON lines, as they are measured.
    """
    rows = []
    for dataset in datasets:
        rows.append(measure(dataset, options))
        print(
            json.dumps(rows[-1]) if as_json else f"{dataset} done",
            flush=True,
            file=sys.stdout if as_json else sys.stderr,
        )
    if as_json:
        made = {"threads": torch.get_num_threads(), "torch": torch.__version__}
        print(json.dumps({"geometric_mean": means(rows), **made}))
    else:
        print(as_table(rows))


def compare_methods(datasets: Sequence[str], options: Options, as_json: bool = False) -> None:
    """Measure an epoch of every method beside its PyG reference and print the table, or one JSON line each.

    Args:
        datasets: names of the data sets.
        options: rounds and data folder.
        as_json: whether to print JSON lines, as they are measured.
    """
    rows = []
    for dataset in datasets:
        graph = load_dataset(dataset, root=options.data)
        for name in NETWORKS:
            rows.append(measure_method(name, graph, options.rounds))
            if as_json:
                print(json.dumps(rows[-1]), flush=True)
        print(f"{dataset} done", file=sys.stderr, flush=True)
    if not as_json:
        print(as_table(rows))


def main(words: Sequence[str], about: str | None = __doc__) -> int:
    """Run ``python benchmarks/speed.py``, or one measurement in a process of its own.

    Args:
        words: the command line.
        about: the text above the options in ``--help``.

    Returns:
        The exit code.
    """
    given = _parser(about).parse_args(words)
    try:
        options = Options(given.backbone, given.heads, given.rounds, given.memory, given.data)
        if given.only:
            graph = load_dataset(given.datasets[0], root=given.data)
            if given.only == "peak":
                print(peak_memory(graph, given.backbone, given.heads, given.way))
            else:
                print(kept_memory_gain(graph, given.backbone, given.heads))
        elif given.show:
            print(as_table(read_rows(given.show)))
        elif given.methods:
            compare_methods(given.datasets, options, given.json)
        else:
            compare(given.datasets, options, given.json)
    except NCGCError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


def _parser(about: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=DATASETS, metavar="DATASET")
    parser.add_argument("--backbone", choices=tuple(WAYS), default="gcn")
    parser.add_argument("--heads", type=int, default=1, help="attention heads of GAT")
    parser.add_argument("--rounds", type=int, default=7, help="timed rounds of each implementation")
    parser.add_argument("--memory", action="store_true", help="also measure peak memory")
    parser.add_argument("--json", action="store_true", help="JSON lines instead of the table")
    parser.add_argument("--data", help="folder of the data sets (else NCGC_DATA, else the user's cache)")
    parser.add_argument("--methods", action="store_true", help="instead time an epoch of every other method")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print the table of an earlier --json")
    parser.add_argument("--only", choices=("peak", "kept"), help=argparse.SUPPRESS)
    parser.add_argument("--way", choices=WAYS["gcn"], default="ours", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
