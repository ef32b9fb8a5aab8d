"""M3S: self-training in several stages, with clusters of the embeddings as a second opinion."""

from __future__ import annotations

import warnings

import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor, nn
from torch.nn.functional import normalize

from ncgc.models.baselines.self_training import SelfTraining, additions, anew, extended, most_confident
from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.stages import interrupted, joined, later
from ncgc.nn import Output
from ncgc.ops import propagate
from ncgc.params.parameter import declared
from ncgc.training import LastEpoch, StoppingRule, TrainingResult, Watcher


class M3S(SelfTraining):
    """S times: train a GCN, take the nodes it is surest of, keep those whose cluster agrees, add them (Sun et al., 2020).

    The clusters are those of k-means on the unit rows of Â·H, what the last linear map sees; each is of the class whose mean
    over labelled nodes is nearest to its centre. Every stage takes 1/S of the nodes that self-training would add. The
    last of S+1 trainings is the result. The authors' code is not public: the network is that of GCN, the numbers are the
    paper's and those of a port.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> M3S(epochs=5, clusters=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "M3S"
    paper = "Sun et al., AAAI 2020"
    cost = "six trainings of a GCN and five k-means"

    stages: int = declared(5, "S: times that labels are added", low=1)
    clusters: int = declared(200, "clusters of k-means, at most a node each", low=1)

    def train(
        self, data: TrainingData, network: nn.Module, stopping: StoppingRule, watch: Watcher | None
    ) -> TrainingResult:
        parts: list[TrainingResult] = []
        now = data
        counts = additions(data, self.reach)
        share = (counts + self.stages - 1) // self.stages  # rounded up
        for _ in range(self.stages):
            parts.append(NetworkClassifier.train(self, now, network, LastEpoch(), later(watch, parts)))
            if interrupted(parts):
                return joined(parts)
            now = self._more(now, network, share)
            anew(self, data, network)
        parts.append(NetworkClassifier.train(self, now, network, stopping, later(watch, parts)))
        return joined(parts)

    @torch.no_grad()
    def _more(self, data: TrainingData, network: nn.Module, counts: Tensor) -> TrainingData:
        """The data with the labels that this stage adds."""
        output: Output = network(data.operators, None)
        others = torch.ones(data.operators.num_nodes, dtype=torch.bool)
        others[data.train] = False
        found = output.logits.softmax(dim=1)
        nodes = most_confident(found, others.nonzero().squeeze(1), counts)
        seen = normalize(propagate(data.operators.gcn, output.embeddings))
        aligned = aligned_clusters(seen, data.train, data.labels, self.clusters, data.seed)
        agreed = nodes[aligned[nodes] == found[nodes].argmax(dim=1)]
        return extended(data, agreed, found[agreed].argmax(dim=1))


def aligned_clusters(embeddings: Tensor, nodes: Tensor, labels: Tensor, clusters: int, seed: int) -> Tensor:
    """Cluster the nodes by k-means and give each cluster the class with the nearest mean embedding.

    Args:
        embeddings: (n, d).
        nodes: (l,) labelled nodes, over which the class means are taken.
        labels: (l,) their classes.
        clusters: number of clusters.
        seed: of k-means.

    Returns:
        (n,) the class of each node's cluster.
    """
    number = min(clusters, embeddings.shape[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer clusters where nodes are the same
        means = KMeans(number, n_init=1, random_state=seed % 2**32).fit(embeddings.double().numpy())
    centres = torch.from_numpy(means.cluster_centers_)
    classes = labels.unique()
    middles = torch.stack([embeddings[nodes[labels == c]].double().mean(dim=0) for c in classes])
    nearest = classes[torch.cdist(centres, middles).argmin(dim=1)]
    return nearest[torch.from_numpy(means.labels_).long()]
