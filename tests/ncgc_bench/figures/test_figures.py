"""Figures: drawn from what the store has, from nothing else, and the same bytes each time."""

import builtins
import json
import math
from itertools import pairwise

import pytest

from ncgc.errors import NCGCError, OutputError, ParameterError
from ncgc_bench.figures import draw_all
from ncgc_bench.figures.ablation import draw_ablations
from ncgc_bench.figures.direct_labels import spread
from ncgc_bench.figures.labels import draw_labels
from ncgc_bench.figures.leaderboard import SHOWN, draw_leaderboard
from ncgc_bench.figures.speed import draw_speed
from ncgc_bench.figures.style import style
from ncgc_bench.figures.sweeps import draw_sweeps
from ncgc_bench.plans import DATASETS, ablation_plan, labels_plan, leaderboard_plan, sweep_plan, table_plan
from ncgc_bench.published import published_curve
from ncgc_bench.store import Store


def accuracy(entry):
    """A number that is another for every cell and seed, between 0.5 and 0.9."""
    return 0.5 + int(entry.run.key[:6], 16) / 0xFFFFFF * 0.4


def fill(folder, entries, accuracy=accuracy):
    """A store with a made-up record of each entry; the second of a cell that two plans share is left out."""
    lines = {}
    for entry in entries:
        run = entry.run
        record = {"dataset": run.dataset.name, "split": run.dataset.split, "labels_per_class": run.dataset.labels_per_class, "seed": run.seed,
                  "method": run.method, "blind": run.dataset.blind, "test_accuracy": accuracy(entry), "val_accuracy": 0.5,
                  "seconds": 1.0 + run.seed, "threads": 1, "settings": run.settings}  # fmt: skip
        lines[run.key] = json.dumps(record)
    folder.mkdir(exist_ok=True)
    (folder / "made-up.jsonl").write_text("\n".join(lines.values()) + "\n")
    return Store(folder)


def mean(entries):
    values = [100 * accuracy(entry) for entry in entries]
    return sum(values) / len(values)


def panel(figure, title):
    return next(axes for axes in figure.axes if axes.get_title(loc="left") == title)


def line(axes, label):
    return next(drawn for drawn in axes.lines if drawn.get_label() == label)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """One data set of each plan, two runs a cell."""
    entries = sweep_plan(("cora",), runs=2) + ablation_plan(("cora",), runs=2)
    entries += labels_plan(("photo",), ("gcn",), (1, 20), runs=2) + table_plan(
        ("photo",), ("gcn", "gat"), "random", 2, others=("label_spreading",)
    )
    return fill(tmp_path_factory.mktemp("store"), entries)


def test_all_figures_are_drawn_twice_the_same(everything, tmp_path):
    drawn = draw_all(everything, tmp_path / "a" / "new")
    names = ["sweep-beta-gcn", "sweep-epsilon-gcn", "sweep-iterations-gcn", "ablation-gcn", "labels", "speed"]
    assert drawn == [tmp_path / "a" / "new" / f"{name}.svg" for name in names]
    again = draw_all(everything, tmp_path / "b")
    assert [path.read_bytes() for path in drawn] == [path.read_bytes() for path in again]
    for path in drawn:
        assert path.read_bytes().startswith(b"<?xml")
        assert b"<dc:date>" not in path.read_bytes()
        assert b"matplotlib.org" not in path.read_bytes().split(b"</metadata>")[0]


def test_an_empty_store_gives_nothing(tmp_path):
    assert draw_all(Store(tmp_path / "none"), tmp_path / "figures") == []
    assert list((tmp_path / "figures").iterdir()) == []


def test_a_sweep_shows_the_stores_means_and_the_papers_points(tmp_path):
    entries = sweep_plan(("cora", "photo"), runs=2, sweeps={"epsilon": (0.01, 0.1, 1.0)})
    entries = [entry for entry in entries if (entry.dataset, entry.value) != ("photo", 0.1)]  # not run yet
    with style():
        figures = draw_sweeps(fill(tmp_path, entries), "default")
        assert list(figures) == ["sweep-epsilon-gcn"]
    figure = figures["sweep-epsilon-gcn"]
    for dataset, title, values in (("cora", "Cora", [0.01, 0.1, 1.0]), ("photo", "Photo", [0.01, 1.0])):
        ours = line(panel(figure, title), "ours")
        assert list(ours.get_xdata()) == values
        expected = [mean([e for e in entries if e.dataset == dataset and e.value == value]) for value in values]
        assert list(ours.get_ydata()) == pytest.approx(expected)
        paper = line(panel(figure, title), "paper")
        assert (list(paper.get_xdata()), list(paper.get_ydata())) == published_curve("epsilon", dataset, "gcn")
    assert len(figure.axes) == 2  # no panel for what was not run


def test_a_single_value_is_no_sweep(tmp_path):
    entries = sweep_plan(("cora",), runs=2, sweeps={"beta": (0.003,)})
    assert draw_sweeps(fill(tmp_path, entries), "default") == {}


def test_the_ablation_shows_paired_differences(tmp_path):
    entries = ablation_plan(("cora",), runs=3)
    # the second run of one variant is missing: its pair is left out, not compared with the others' mean
    entries = [entry for entry in entries if (entry.variant, entry.run.seed) != ("no KL", 1)]
    with style():
        figure = draw_ablations(fill(tmp_path, entries), "default")["ablation-gcn"]
    by_cell = {(entry.variant, entry.run.seed): 100 * accuracy(entry) for entry in entries}
    bars = {
        container.get_label(): container.patches[0].get_width()
        for container in figure.axes[0].containers
        if hasattr(container, "patches")  # not an error bar
    }
    for variant, seeds in (("no KL", (0, 2)), ("no PL", (0, 1, 2)), ("plain", (0, 1, 2))):
        expected = sum(by_cell[variant, seed] - by_cell["ncgc", seed] for seed in seeds) / len(seeds)
        assert bars[variant] == pytest.approx(expected)


def test_an_ablation_needs_the_full_method_and_a_part(tmp_path):
    entries = ablation_plan(("cora",), runs=2)
    without = [entry for entry in entries if entry.variant != "ncgc"]
    assert draw_ablations(fill(tmp_path / "a", without), "default") == {}
    table = [entry for entry in entries if entry.variant in ("ncgc", "plain")]
    assert draw_ablations(fill(tmp_path / "b", table), "default") == {}


def test_labels_show_every_method(tmp_path):
    entries = labels_plan(("cora",), ("gcn", "appnp"), (1, 5, 20), runs=2)
    entries = [entry for entry in entries if (entry.backbone, entry.variant) != ("appnp", "plain")]
    with style():
        figure = draw_labels(fill(tmp_path, entries), "default")["labels"]
    axes = panel(figure, "Cora")
    assert [drawn.get_label() for drawn in axes.lines] == ["GCN NCGC", "GCN plain", "label spreading", "APPNP NCGC"]
    assert {text.get_text() for text in axes.texts} == {drawn.get_label() for drawn in axes.lines}
    for label, backbone, variant in (("GCN plain", "gcn", "plain"), ("label spreading", None, "label_spreading")):
        own = [entry for entry in entries if (entry.backbone, entry.variant) == (backbone, variant)]
        expected = [mean([entry for entry in own if entry.value == count]) for count in (1, 5, 20)]
        assert list(line(axes, label).get_ydata()) == pytest.approx(expected)


def test_speed_shows_seconds_and_accuracy(tmp_path):
    entries = table_plan(("cora",), ("gcn",), "random", 3, others=("label_spreading",))
    with style():
        figure = draw_speed(fill(tmp_path, entries), "default")["speed"]
    axes = panel(figure, "Cora")
    for variant in ("ncgc", "plain"):
        point = line(axes, f"gcn {variant}")
        assert list(point.get_xdata()) == pytest.approx([2.0])
        own = [entry for entry in entries if entry.variant == variant]
        assert list(point.get_ydata()) == pytest.approx([mean(own)])
    assert any(text.get_text().startswith("label spreading") for text in axes.texts)


def test_settings_without_some_backbones_are_drawn_for_the_rest(tmp_path):
    entries = sweep_plan(("cora",), ("gat",), runs=1, settings="paper", sweeps={"beta": (0.001, 0.01)})
    with style():
        assert list(draw_sweeps(fill(tmp_path, entries), "paper")) == ["sweep-beta-gat"]


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"settings": "defalt"}, ParameterError, "did you mean 'default'"),
        ({"formats": ("svg", "jpeg")}, ParameterError, "format of a figure 'jpeg'"),
    ],
)
def test_bad_input_gets_a_sentence(tmp_path, change, kind, words):
    with pytest.raises(kind, match=words):
        draw_all(Store(tmp_path), tmp_path, **change)


def test_a_file_in_the_folders_place_gets_a_sentence(tmp_path):
    (tmp_path / "figures").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        draw_all(Store(tmp_path), tmp_path / "figures")


def test_without_matplotlib_a_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(NCGCError, match=r"pip install 'ncgc\[bench\]'"):
        draw_all(Store(tmp_path), tmp_path)


@pytest.mark.parametrize("wanted", [[3.0], [1.0, 1.0, 1.0], [9.9, 0.0, 9.8, 9.7], [5.0, 4.9, 5.1, 0.1]])
def test_labels_are_moved_apart_in_order(wanted):
    places = spread(wanted, 1.5, 0.0, 10.0)
    in_order = [place for _, place in sorted(zip(wanted, places, strict=True))]
    assert in_order == sorted(places)
    assert all(b - a >= 1.5 - 1e-9 for a, b in pairwise(in_order))
    assert min(places) >= 0
    assert max(places) <= 10
    assert math.isclose(spread([3.0, 7.0], 1.5, 0.0, 10.0)[1], 7.0)  # those with room stay


def test_the_leaderboard_shows_the_means_of_methods_with_all_runs(tmp_path):
    entries = leaderboard_plan(others=("sgc", "gcn", "mlp"))
    lacking = ("gcn", "physics", 4)  # one run of GCN on one graph
    entries = [entry for entry in entries if (entry.variant, entry.dataset, entry.run.seed) != lacking]
    store = fill(tmp_path, entries)
    with style():
        figure = draw_leaderboard(store, "default")["leaderboard"]
    axes = figure.axes[0]
    shown = {drawn.get_label(): drawn for drawn in axes.lines}
    assert set(shown) == {"NCGC (APPNP)", "NCGC (GCN)", "SGC", "MLP (features only)"}
    means = {
        name: sum(mean([e for e in entries if (e.variant, e.dataset) == (variant, dataset)]) for dataset in DATASETS)
        / len(DATASETS)
        for name, variant in (("SGC", "sgc"), ("MLP (features only)", "mlp"))
    }
    top = max(means.values())
    for name, value in means.items():
        assert list(shown[name].get_xdata()) == [3.0]
        if value >= top - SHOWN:
            assert shown[name].get_ydata()[0] == pytest.approx(value)


def test_a_method_far_below_stands_at_the_lower_edge_with_its_number(tmp_path):
    entries = leaderboard_plan(others=("sgc", "mlp"))
    levels = {"ncgc": 0.85, "sgc": 0.84, "mlp": 0.3}
    store = fill(tmp_path, entries, lambda entry: levels[entry.variant])
    with style():
        axes = draw_leaderboard(store, "default")["leaderboard"].axes[0]
    shown = {drawn.get_label(): (drawn.get_marker(), drawn.get_ydata()[0]) for drawn in axes.lines}
    assert shown["SGC"] == ("o", pytest.approx(84.0))
    assert shown["MLP (features only)"][0] == "v"
    low, high = axes.get_ylim()
    assert low < shown["MLP (features only)"][1] < 85 - SHOWN < high
    assert "MLP (features only) 30 %" in [text.get_text() for text in axes.texts]


def test_without_a_complete_method_there_is_no_leaderboard(tmp_path):
    entries = leaderboard_plan(("cora",), others=("sgc",))
    assert draw_leaderboard(fill(tmp_path, entries), "default") == {}
