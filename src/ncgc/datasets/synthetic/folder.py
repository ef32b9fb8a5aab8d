"""A generated graph as a folder that `ncgc fit` reads, written block by block, whole or not at all.

nodes.parquet    id, label (empty where unknown), split (train, val or test)               truth.parquet  id, label of all
edges.parquet    source, target; each edge once                                            generate.toml  the settings
features.npy     n×D float32, up to 128 features; features.npz, scipy's CSR, above
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w

from ncgc.datasets.split import PARTS, Split
from ncgc.datasets.synthetic.edges import edge_blocks
from ncgc.datasets.synthetic.features import word_blocks, write_npy, write_npz
from ncgc.datasets.synthetic.model import NODES_A_BLOCK, BlockModel
from ncgc.datasets.synthetic.nodes import Nodes, draw_nodes, spans
from ncgc.datasets.synthetic.sample import draw_split
from ncgc.errors import OutputError
from ncgc.files import TEMPORARY, check_folder, whole_folder
from ncgc.version import __version__

DENSE_UP_TO = 128  # features; beyond, dense rows would be long and mostly zeros
FULL_BATCH_UP_TO = 300_000  # nodes; above, the suggested command trains by partitions (measured in docs/scaling.md)
PART = 100_000  # nodes of a partition
STEPS = 5  # steps per epoch, at most
NODES_FILE, EDGES_FILE, TRUTH_FILE, SETTINGS_FILE = "nodes.parquet", "edges.parquet", "truth.parquet", "generate.toml"
FILES = (NODES_FILE, EDGES_FILE, TRUTH_FILE, SETTINGS_FILE, "features.npy", "features.npz")

Block = TypeVar("Block")
Step = Callable[[], None]


def write_graph(
    path: str | Path, model: BlockModel, overwrite: bool = False, step: Step = lambda: None
) -> tuple[Nodes, Split]:
    """Write the graph of a block model to a folder, whole or not at all.

    Memory: some 40 bytes a node while classes are drawn, later about half of that, and one block of edges or features.

    Args:
        path: the folder; it must not exist or be empty.
        model: the block model.
        overwrite: replace a generated graph; a folder that holds anything else is refused all the same.
        step: called :func:`num_steps` times on the way, for a progress bar.

    Returns:
        The nodes with their classes, and the split: the labelled nodes.

    Raises:
        OutputError: if the folder cannot be written or its disk has no room.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     nodes, split = write_graph(Path(root) / "small", BlockModel(num_nodes=1000, num_classes=2))
    ...     sorted(file.name for file in (Path(root) / "small").iterdir())
    ['edges.parquet', 'features.npy', 'generate.toml', 'nodes.parquet', 'truth.parquet']
    """
    check_place(path, model, overwrite)
    with whole_folder(path, overwrite, at_once=True) as place:
        nodes = draw_nodes(model)
        split = draw_split(model, nodes)
        step()
        _write_tables(place, model, nodes, split)
        step()
        _write_parquet(place / EDGES_FILE, ("source", "target"), _edges(model, nodes, step))
        write = write_npy if features_name(model).endswith(".npy") else write_npz
        write(
            place / features_name(model),
            _counted(word_blocks(model, nodes), step),
            (model.num_nodes, model.num_features),
        )
        (place / SETTINGS_FILE).write_text(settings_toml(model), encoding="utf-8")
    return nodes, split


def check_place(path: str | Path, model: BlockModel, overwrite: bool = False) -> None:
    """Check that a folder can be written, holds nothing else, and that its disk has room.

    Args:
        path: the folder.
        model: the block model.
        overwrite: whether a generated graph in it may be replaced.

    Raises:
        OutputError: otherwise.
    """
    check_folder(path, overwrite)
    path = Path(path)
    others = [file.name for file in path.iterdir() if file.name not in FILES] if path.is_dir() else []
    others = sorted(name for name in others if not name.startswith(TEMPORARY))
    if others:
        raise OutputError(
            f"The output folder {path} holds {others[0]!r}, which is no part of a generated graph and would be lost; "
            "give another folder."
        )
    home = next(folder for folder in path.resolve().parents if folder.exists())
    needed, free = expected_bytes(model), shutil.disk_usage(home).free
    if needed > free:
        raise OutputError(
            f"The graph takes about {needed / 1e9:.1f} GB and {home} has {free / 1e9:.1f} GB left; "
            "give another disk, or a smaller graph."
        )


def expected_bytes(model: BlockModel) -> int:
    """Estimate the size of the folder: 8 bytes an edge, 20 a node, and 4 an entry (dense) or 5 a word (sparse).

    Args:
        model: the block model.

    Returns:
        Bytes.
    """
    dense = model.num_features <= DENSE_UP_TO
    row = 4 * model.num_features if dense else 5 * model.features_per_node + 8
    return 8 * model.num_edges + (row + 20) * model.num_nodes


def num_steps(model: BlockModel) -> int:
    """How often :func:`write_graph` calls ``step``: twice for the nodes, then once a block.

    Args:
        model: the block model.

    Returns:
        The number of calls.
    """
    return 2 + sum(-(-model.num_nodes // size) for size in (model.nodes_a_stretch, model.nodes_a_page))


def features_name(model: BlockModel) -> str:
    """The file name of the features.

    Args:
        model: the block model.

    Returns:
        ``features.npy`` (dense) for few columns, ``features.npz`` (sparse) for many.
    """
    return "features.npy" if model.num_features <= DENSE_UP_TO else "features.npz"


def fit_command(path: str | Path, model: BlockModel) -> str:
    """The command that labels the rest of the graph.

    A large graph is trained by partitions without a halo: in a block model a halo would be as large as the graph.

    Args:
        path: the folder of the graph.
        model: the block model.

    Returns:
        One line for a shell.

    >>> fit_command("big", BlockModel())
    'ncgc fit --nodes big/nodes.parquet --edges big/edges.parquet --features big/features.npy --split split --out big-run'
    >>> fit_command("big", BlockModel(num_nodes=1_000_000))[-72:]
    '--out big-run --batch partitions --parts 10 --halo 0 --steps-per-epoch 5'
    """
    path = Path(path)
    files = {"nodes": NODES_FILE, "edges": EDGES_FILE, "features": features_name(model)}
    words = [f"--{name} {shlex.quote(str(path / file))}" for name, file in files.items()]
    words += ["--split split", f"--out {shlex.quote(str(path) + '-run')}"]
    if model.num_nodes > FULL_BATCH_UP_TO:
        parts = -(-model.num_nodes // PART)
        words.append(f"--batch partitions --parts {parts} --halo 0 --steps-per-epoch {min(parts, STEPS)}")
    return f"ncgc fit {' '.join(words)}"


def settings_toml(model: BlockModel) -> str:
    """The text of ``generate.toml``: the settings of the graph and a description of the other files.

    Args:
        model: the block model.

    Returns:
        TOML, with the command that fits the graph in a comment.
    """
    name = features_name(model)
    kind = (
        "a float32 array (numpy.load maps it)" if name.endswith(".npy") else "a sparse matrix (scipy.sparse.load_npz)"
    )
    head = f"""# A graph made by ncgc {__version__}: a degree-corrected stochastic block model with words that depend on the class.
#
# nodes.parquet  id, label and split: train, val or test; empty for the nodes that are to be labelled
# edges.parquet  source and target, each edge once; the order of its rows follows the hidden classes: do not learn from it
# {name}   {kind}, a row a node in the order of nodes.parquet
# truth.parquet  id and label of every node, to compare with
#
# {fit_command("FOLDER", model)}
"""
    # TOML has no null
    return head + tomli_w.dumps({key: "none" if value is None else value for key, value in model.to_dict().items()})


def _write_tables(place: Path, model: BlockModel, nodes: Nodes, split: Split) -> None:
    """nodes.parquet and truth.parquet."""
    names = pa.array(model.class_names)
    part = np.zeros(model.num_nodes, dtype=np.int8)
    for number, word in enumerate(PARTS, start=1):
        part[getattr(split, word)] = number
    words = pa.array([None, *PARTS])

    def pages(all_labels: bool) -> Iterator[list[pa.Array]]:
        for _, start, stop in spans(model.num_nodes, NODES_A_BLOCK):
            role = part[start:stop]
            labels = names.take(pa.array(nodes.labels[start:stop], mask=None if all_labels else role == 0))
            yield [pa.array(np.arange(start, stop)), labels, *([] if all_labels else [words.take(pa.array(role))])]

    _write_parquet(place / NODES_FILE, ("id", "label", "split"), pages(False))
    _write_parquet(place / TRUTH_FILE, ("id", "label"), pages(True))


def _edges(model: BlockModel, nodes: Nodes, step: Step) -> Iterator[list[pa.Array]]:
    for ends in _counted(edge_blocks(model, nodes), step):
        yield [pa.array(np.ascontiguousarray(column)) for column in ends.T]


def _write_parquet(path: Path, names: tuple[str, ...], pages: Iterator[list[pa.Array]]) -> None:
    """A row group a page; text through a dictionary, numbers plain, since they hardly repeat."""
    first = next(pages)
    schema = pa.schema([(name, column.type) for name, column in zip(names, first, strict=True)])
    texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
    with (
        path.open("wb") as file,
        pq.ParquetWriter(file, schema, compression="none", use_dictionary=texts, write_statistics=False) as writer,
    ):
        for page in chain([first], pages):
            writer.write_table(pa.table(page, schema=schema))


def _counted(blocks: Iterable[Block], step: Step) -> Iterator[Block]:
    for block in blocks:
        yield block
        step()
