"""`fit` in many processes: the same network, losses and rules as in one, each process with its share of the nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ncgc.datasets import Split
from ncgc.errors import ParameterError
from ncgc.graph import Graph
from ncgc.graph.features import FeatureScaling
from ncgc.models.ncgc_parts import make_network, make_objective, make_selection, trainer_settings
from ncgc.nn import Output
from ncgc.ops import RowGenerator
from ncgc.params.parameter import check_parameters
from ncgc.training import Trainer, Watcher
from ncgc.training.checkpoint import Checkpoints, about_training
from ncgc.training.engines.distributed.account import Account, Meter, account
from ncgc.training.engines.distributed.graph_summary import Outline
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.distributed.part_trainer import RankPartitionTrainer, dealt
from ncgc.training.engines.distributed.rank_operators import RankOperators
from ncgc.training.engines.distributed.scatter import dealt_rows
from ncgc.training.engines.partition import Share, check_pymetis, partition
from ncgc.training.engines.partition.part_operators import Source

if TYPE_CHECKING:
    from ncgc.models.ncgc import NCGC

BACKBONES = ("gcn", "sage", "gcnii", "appnp")


def fit_distributed(
    model: NCGC,
    graph: Graph,
    split: Split,
    group: Group,
    watch: Watcher | None = None,
    keep: Callable[[Trainer, int], None] | None = None,
    begin: Callable[[Trainer], None] | None = None,
    tell: Callable[[Account], None] | None = None,
) -> NCGC:
    """Train ``model`` in all processes of a group; the first one's is then fitted as by :meth:`NCGC.fit`.

    The result is that of one process, but for the rounding of sums in another order: dropout depends on the node, not on
    who draws it.

    Args:
        graph: the same in every process; or, beside the first one, its :class:`Outline`, and the rows come from there.
        watch: called after every epoch, in every process.
        keep: called after every epoch to write a checkpoint, in every process.
        begin: called before the first epoch, to go on from one.
        tell: given the account of memory and messages at the end, in every process.
    """
    trainer, scaling, seeds = make_trainer(model, graph, split, group)
    meter = Meter(group)
    trainer.watch, trainer.keep = meter.watching(watch), keep
    if begin is not None:
        begin(trainer)
    result = trainer.run()
    group.where = "after training"
    part = _operators(trainer).part
    if tell is not None:
        tell(account(group, meter, len(part.owned), len(part.halo)))
    output = _whole_output(trainer, graph.num_nodes, group)
    model._remember(graph, split, scaling, trainer.network, trainer.objective, result)
    if group.first:
        model._look_at(output)
        model._gather_clusters(int(seeds[2]))
    model.seeds_ = {"weights": seeds[0], "dropout": seeds[1], "centroids": seeds[2]}
    return model


def make_trainer(model: NCGC, graph: Graph, split: Split, group: Group) -> tuple[Trainer, FeatureScaling, list[int]]:
    """This process's trainer, how features were scaled, and the three seeds."""
    parameters = model.get_params(deep=False)
    check_parameters(parameters, type(model).__name__)
    check_distributed(parameters)
    graph.validate()
    split.validate(graph)
    drawn = np.random.SeedSequence(model.random_state).generate_state(3).astype(np.int64)
    seeds: list[int] = group.from_first(torch.from_numpy(drawn)).tolist()
    scaling = _shared_scaling(graph, model.features, group)
    source, by_parts = Source(graph, scaling), parameters["batch"] == "partitions"
    if by_parts and isinstance(graph, Outline):
        raise ParameterError("batch='partitions' needs the graph in every process, not its outline.")
    parts = parameters["parts"] if by_parts else group.size
    rank_of = dealt(parts, group.size)
    part_of = shared_parts(graph, group, parts)
    owner = rank_of[part_of]
    rows = dealt_rows(source, owner, group, "mean" if parameters["backbone"] == "sage" else "gcn")
    operators = RankOperators(graph, rows, owner, group)
    share = Share(operators.part.owned, operators.reduction)
    network = make_network(parameters, graph, torch.Generator().manual_seed(seeds[0]))
    rules = (
        make_objective(parameters, graph, split, share),
        make_selection(parameters, graph, split, share),
        trainer_settings(parameters, graph),
    )
    trainer: Trainer
    if by_parts:
        own = np.flatnonzero(rank_of == group.rank).tolist()
        sizes = (parts, parameters["halo"], parameters["steps_per_epoch"], int(seeds[1]))
        trainer = RankPartitionTrainer(network, source, operators, part_of, own, *sizes, *rules, int(seeds[2]))
    else:
        draws = RowGenerator(seeds[1], torch.from_numpy(operators.part.owned))
        trainer = Trainer(network, operators, *rules, draws, int(seeds[2]))
    return trainer, scaling, seeds


def _shared_scaling(graph: Graph, kind: str, group: Group) -> FeatureScaling:
    """How features are scaled, learnt by the first process, which has them all for certain."""
    scaling = FeatureScaling.fit(graph, kind)
    if scaling.mean is None:  # by the density of the features, which every process knows
        return scaling
    return FeatureScaling(kind, group.from_first(torch.from_numpy(scaling.mean)).numpy())


def shared_parts(graph: Graph, group: Group, parts: int) -> np.ndarray:
    """(n,) the part of each node: METIS in the first process, sent to all."""
    if parts > 1:
        check_pymetis()
    found = partition(graph.adjacency, parts) if group.first else np.zeros(graph.num_nodes, dtype=np.int32)
    shared: np.ndarray = group.from_first(torch.from_numpy(found)).numpy()
    return shared


def check_distributed(parameters: dict[str, object]) -> None:
    """A sentence for what does not train in several processes."""
    if parameters["backbone"] not in BACKBONES:
        raise ParameterError(
            f"The backbone {parameters['backbone']!r} does not train in several processes yet; take {', '.join(BACKBONES)}."
        )
    if parameters["norm"] == "batch":
        raise ParameterError("norm='batch' does not train in several processes yet; take 'layer' or none.")


def _operators(trainer: Trainer) -> RankOperators:
    assert isinstance(trainer.operators, RankOperators)
    return trainer.operators


def _whole_output(trainer: Trainer, nodes: int, group: Group) -> Output:
    """Embeddings and logits of all nodes in the first process, without dropout; of the own nodes in the others."""
    with torch.no_grad():
        output: Output = trainer.network.eval()(trainer.operators)
    ids = group.gathered(torch.from_numpy(_operators(trainer).part.owned))

    def whole(own: Tensor) -> Tensor:
        found = group.gathered(own)
        if not group.first:
            return own
        full = own.new_empty(nodes, own.shape[1])
        for rows, values in zip(ids, found, strict=True):
            full[rows] = values
        return full

    return Output(whole(output.embeddings), whole(output.logits))


def fit_with_checkpoints(
    model: NCGC,
    graph: Graph,
    split: Split,
    group: Group,
    watch: Watcher | None,
    folder: Path | None,
    every: int = 10,
    resume: bool = False,
    warn: Callable[[str], None] = lambda sentence: None,
    tell: Callable[[Account], None] | None = None,
) -> NCGC:
    """:func:`fit_distributed` with a checkpoint every few epochs in a folder that all processes see."""
    if folder is None:
        return fit_distributed(model, graph, split, group, watch, tell=tell)
    about = about_training(model, graph, split)
    kept: list[Checkpoints] = []

    def begin(trainer: Trainer) -> None:
        ids = torch.from_numpy(_operators(trainer).part.owned)
        kept.append(Checkpoints(folder, about, ids, every, group, warn))
        kept[0].begin(trainer, resume)
        group.barrier()  # nobody writes while another one reads

    return fit_distributed(
        model, graph, split, group, watch, lambda trainer, epoch: kept[0].keep(trainer, epoch), begin, tell
    )
