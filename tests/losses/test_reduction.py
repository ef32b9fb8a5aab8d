"""The losses of shares of the nodes add up to the loss of all nodes, and so do their gradients."""

import pytest
import torch

from ncgc.losses import Objective, ObjectiveSettings, PriorEstimate, initial_centroids, marginal_error, sinkhorn

N, K = 60, 4
SHARES = (torch.arange(0, N, 2), torch.arange(1, N, 2), torch.tensor([], dtype=torch.long))
TRAIN = torch.arange(8)


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("scale", "epsilon", "relaxation", "prior"),
    [
        (1, 0.5, 1.0, None),
        (1, 0.01, 0.5, None),
        (300, 0.05, 1.0, None),
        (5, 0.1, 0.7, [0.0, 1.0, 1.0, 4.0]),
        (1, 1, 0.0, None),
    ],
)
def test_sinkhorn_over_shares(in_shares, scale, epsilon, relaxation, prior):
    scores = normal(N, K) * scale
    expected = sinkhorn(scores, epsilon, 8, prior, relaxation)
    error = marginal_error(expected, prior)

    def share(reduction, rows):
        targets = sinkhorn(scores[rows], epsilon, 8, prior, relaxation, reduction)
        return targets, marginal_error(targets, prior, reduction)

    for rows, (targets, found) in zip(SHARES, in_shares(share, SHARES), strict=True):
        torch.testing.assert_close(targets, expected[rows], atol=1e-5, rtol=1e-4)
        assert found == pytest.approx(error, abs=1e-5)


def test_one_share_that_has_diverged_is_refused_by_all(in_shares):
    from ncgc.errors import ParameterError

    def share(reduction, rows):
        scores = normal(len(rows), K)
        if len(rows) and rows[0] == 1:
            scores[0, 0] = torch.nan
        with pytest.raises(ParameterError, match="NaN or infinity"):
            sinkhorn(scores, reduction=reduction)
        return True

    assert in_shares(share, SHARES) == [True] * 3


@pytest.mark.parametrize("prior", ["uniform", "estimated"])
def test_objective_over_shares(in_shares, prior):
    settings = ObjectiveSettings(warmup=0, ramp=0, prior=prior, epsilon=0.3, relaxation=0.5)
    embeddings, logits, centroids = normal(N, 5), normal(N, K, seed=1), normal(K, 5, seed=2)
    labels = torch.arange(8) % K

    def losses(reduction, rows):
        place = torch.full((N,), -1)
        place[rows] = torch.arange(len(rows))
        mine = place[TRAIN] >= 0
        rest = place[8:][place[8:] >= 0]
        more = () if reduction is None else (reduction,)
        objective = Objective(settings, K, place[TRAIN][mine], labels[mine], rest, *more)
        given = [embeddings[rows].requires_grad_(), logits[rows].requires_grad_(), centroids.clone().requires_grad_()]
        parts = objective(*given, epoch=0)
        objective.total(parts, 0).backward()
        return {name: part.item() for name, part in parts.items()}, [tensor.grad for tensor in given], objective.prior

    parts, gradients, shares = losses(None, torch.arange(N))
    found = in_shares(losses, SHARES)
    for name, part in parts.items():
        assert sum(share[0][name] for share in found) == pytest.approx(part, rel=1e-5)
    for rows, (_, own, estimate) in zip(SHARES, found, strict=True):
        torch.testing.assert_close(own[0], gradients[0][rows])
        torch.testing.assert_close(own[1], gradients[1][rows])
        torch.testing.assert_close(estimate, shares)
    torch.testing.assert_close(sum(share[1][2] for share in found), gradients[2])


@pytest.mark.parametrize("method", ["kmeans", "random"])
def test_centroids_do_not_depend_on_the_shares(in_shares, method):
    embeddings = normal(N, 5)
    expected = initial_centroids(embeddings, K, method, 3)
    for found in in_shares(
        lambda reduction, rows: initial_centroids(embeddings[rows], K, method, 3, reduction), SHARES
    ):
        assert torch.equal(found, expected)


def test_estimated_prior_over_shares(in_shares):
    probabilities = normal(N, K).softmax(1)
    expected = PriorEstimate(K).update(probabilities)
    for found in in_shares(lambda reduction, rows: PriorEstimate(K).update(probabilities[rows], reduction), SHARES):
        torch.testing.assert_close(found, expected)
