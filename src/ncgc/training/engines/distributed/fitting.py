"""`fit` in many processes: the same network, losses and rules as in one, each process with its share of the nodes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ncgc.datasets import Split
from ncgc.errors import ParameterError
from ncgc.graph import Graph
from ncgc.graph.features import FeatureNormalizer
from ncgc.models.ncgc_components import make_network, make_objective, make_stopping, trainer_settings
from ncgc.nn import SOGN, Output
from ncgc.ops import RowDraws
from ncgc.training import Trainer, TrainingResult
from ncgc.training.checkpoint import Checkpoints, about_training
from ncgc.training.engines.distributed.account import Account, Meter, account
from ncgc.training.engines.distributed.graph_summary import Outline
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.distributed.part_trainer import RankPartitionTrainer, dealt
from ncgc.training.engines.distributed.rank_operators import RankOperators
from ncgc.training.engines.distributed.scatter import dealt_rows
from ncgc.training.engines.partition import Share, check_pymetis, partition
from ncgc.training.engines.partition.part_operators import Source

BACKBONES = ("gcn", "sage", "gcnii", "appnp")


@dataclass
class Trained:
    """What :func:`train_in_processes` gives.

    Attributes:
        network, normalizer, prior, seeds, result: as in one process.
        output: embeddings and logits of all nodes in the first process, of its own nodes in any other.
        complete: whether this is the first process. account: memory and messages.
    """

    network: SOGN
    normalizer: FeatureNormalizer
    prior: np.ndarray
    seeds: list[int]
    result: TrainingResult
    output: Output
    complete: bool
    account: Account


def train_in_processes(model: Any, graph: Graph, split: Split, options: Any) -> Trained:
    """Train in all processes of a group.

    The result is that of one process, but for the rounding of sums in another order: dropout depends on the node, not on
    who draws it.

    Args:
        model: NCGC with its parameters.
        graph: the same in every process; or, beside the first one, its :class:`Outline`, and the rows come from there.
        split: the same in every process.
        options: group, watch and checkpoint.
    """
    group: Group = options.group
    trainer, normalizer, seeds = make_trainer(model, graph, split, group)
    meter = Meter(group)
    trainer.watch = meter.watching(options.watch)
    if options.checkpoint is not None:
        place = options.checkpoint
        ids = torch.from_numpy(_operators(trainer).part.owned)
        kept = Checkpoints(place.folder, about_training(model, graph, split), ids, place.every, group, _warn)
        kept.begin(trainer, place.resume)
        group.barrier()  # nobody writes while another one reads
        trainer.keep = kept.keep
    result = trainer.run()
    group.where = "after training"
    part = _operators(trainer).part
    spent = account(group, meter, len(part.owned), len(part.halo))
    output = _whole_output(trainer, graph.num_nodes, group)
    prior = trainer.objective.prior.numpy()
    return Trained(trainer.network, normalizer, prior, seeds, result, output, group.first, spent)


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=6)


def make_trainer(model: Any, graph: Graph, split: Split, group: Group) -> tuple[Trainer, FeatureNormalizer, list[int]]:
    """This process's trainer, how features were scaled, and the three seeds."""
    parameters = model.get_params(deep=False)
    check_distributed(parameters)
    graph.validate()
    split.validate(graph)
    drawn = np.random.SeedSequence(model.random_state).generate_state(3).astype(np.int64)
    seeds: list[int] = group.from_first(torch.from_numpy(drawn)).tolist()
    normalizer = _shared_normalizer(graph, model.features, group)
    source, by_parts = Source(graph, normalizer), parameters["batch"] == "partitions"
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
        make_stopping(parameters, graph, split, share),
        trainer_settings(parameters, graph),
    )
    trainer: Trainer
    if by_parts:
        own = np.flatnonzero(rank_of == group.rank).tolist()
        sizes = (parts, parameters["halo"], parameters["steps_per_epoch"], int(seeds[1]))
        trainer = RankPartitionTrainer(network, source, operators, part_of, own, *sizes, *rules, int(seeds[2]))
    else:
        draws = RowDraws(seeds[1], torch.from_numpy(operators.part.owned))
        trainer = Trainer(network, operators, *rules, draws, int(seeds[2]))
    return trainer, normalizer, seeds


def _shared_normalizer(graph: Graph, kind: str, group: Group) -> FeatureNormalizer:
    """How features are scaled, learnt by the first process, which has them all for certain."""
    normalizer = FeatureNormalizer.fit(graph, kind)
    if normalizer.mean is None:  # by the density of the features, which every process knows
        return normalizer
    return FeatureNormalizer(kind, group.from_first(torch.from_numpy(normalizer.mean)).numpy())


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
