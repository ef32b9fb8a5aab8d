"""Deep embedded clustering against loops, plain autograd and finite differences; centroids to start from."""

import math
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgc.errors import ParameterError
from ncgc.losses import embedded_clustering_loss, initial_centroids, student_t, target_distribution


def draw(n, k, d, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(n, d, generator=generator, dtype=torch.float64)
    centroids = torch.randn(k, d, generator=generator, dtype=torch.float64)
    return embeddings.to(dtype), centroids.to(dtype)


def by_loops(embeddings, centroids):
    """Q, P and the loss, entry by entry."""
    similarity = [
        [1 / (1 + sum((a - b) ** 2 for a, b in zip(row, centre, strict=True))) for centre in centroids.tolist()]
        for row in embeddings.tolist()
    ]
    q = [[value / sum(row) for value in row] for row in similarity]
    frequency = [sum(row[j] for row in q) for j in range(len(centroids))]
    weights = [[value**2 / f for value, f in zip(row, frequency, strict=True)] for row in q]
    p = [[value / sum(row) for value in row] for row in weights]
    loss = sum(
        a * math.log(a / b) for row_p, row_q in zip(p, q, strict=True) for a, b in zip(row_p, row_q, strict=True)
    )
    return torch.tensor(q).double(), torch.tensor(p).double(), loss / len(q)


def by_autograd(embeddings, centroids):
    distances = (embeddings[:, None] - centroids[None]).square().sum(2)
    q = 1 / (1 + distances)
    q = q / q.sum(1, keepdim=True)
    p = (q**2 / q.sum(0)).detach()
    p = p / p.sum(1, keepdim=True)
    return (p * (p.log() - q.log())).sum(1).mean()


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-7)])
def test_equals_loops(dtype, tolerance):
    embeddings, centroids = draw(30, 4, 6, dtype=dtype)
    q, p, loss = by_loops(embeddings, centroids)
    found = student_t(embeddings, centroids)
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), q, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(target_distribution(found).double(), p, rtol=tolerance, atol=tolerance)
    assert embedded_clustering_loss(embeddings, centroids).item() == pytest.approx(loss, rel=10 * tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
def test_gradients_equal_autograd(dtype, tolerance, spread):
    embeddings, centroids = draw(50, 5, 8, dtype=dtype)
    ours = [(spread * matrix).requires_grad_() for matrix in (embeddings, centroids)]
    theirs = [(spread * matrix).requires_grad_() for matrix in (embeddings, centroids)]
    found, expected = embedded_clustering_loss(*ours), by_autograd(*theirs)
    torch.testing.assert_close(found, expected, rtol=10 * tolerance, atol=tolerance)
    (3 * found).backward()
    (3 * expected).backward()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=100 * tolerance, atol=tolerance)


def test_gradcheck_with_targets_held():
    embeddings, centroids = draw(7, 3, 4)
    targets = target_distribution(student_t(embeddings, centroids)) + 0.01
    targets = targets / targets.sum(1, keepdim=True)
    inputs = (embeddings.requires_grad_(), centroids.requires_grad_())
    assert torch.autograd.gradcheck(lambda h, c: embedded_clustering_loss(h, c, targets), inputs)
    assert torch.autograd.gradcheck(student_t, inputs)


def test_gradient_goes_where_it_is_wanted():
    embeddings, centroids = draw(9, 3, 4)
    embedded_clustering_loss(embeddings.requires_grad_(), centroids).backward()
    assert embeddings.grad is not None
    assert embeddings.grad.abs().sum() > 0
    assert centroids.grad is None
    embedded_clustering_loss(embeddings.detach(), centroids.requires_grad_()).backward()
    assert centroids.grad.abs().sum() > 0


def test_targets_carry_no_gradient():
    embeddings, centroids = draw(9, 3, 4)
    q = student_t(embeddings.requires_grad_(), centroids)
    assert q.requires_grad
    assert not target_distribution(q).requires_grad
    targets = target_distribution(q).requires_grad_()
    embedded_clustering_loss(embeddings, centroids, targets).backward()
    assert targets.grad is None


def test_a_step_down_the_gradient_lowers_the_loss():
    embeddings, centroids = draw(60, 4, 5)
    targets = target_distribution(student_t(embeddings, centroids))
    embeddings.requires_grad_()
    loss = embedded_clustering_loss(embeddings, centroids, targets)
    loss.backward()
    stepped = embeddings.detach() - embeddings.grad
    assert embedded_clustering_loss(stepped, centroids, targets) < loss


def test_empty_cluster_stays_empty():
    assignments = torch.tensor([[0.7, 0.0, 0.3], [0.2, 0.0, 0.8]])
    targets = target_distribution(assignments)
    assert torch.isfinite(targets).all()
    assert (targets[:, 1] == 0).all()
    torch.testing.assert_close(targets.sum(1), torch.ones(2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nodes_on_and_far_from_centroids(dtype):
    _, centroids = draw(1, 3, 4, dtype=dtype)
    centroids[2] = 1e8  # nobody is near
    embeddings = torch.cat([centroids[:2], centroids[:2] + 1e4, 100 * torch.ones(1, 4, dtype=dtype)])
    embeddings, centroids = embeddings.requires_grad_(), centroids.requires_grad_()
    loss = embedded_clustering_loss(embeddings, centroids)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(embeddings.grad).all()
    assert torch.isfinite(centroids.grad).all()
    torch.testing.assert_close(student_t(embeddings, centroids).sum(1), torch.ones(5, dtype=dtype))


@given(st.integers(0, 8), st.integers(1, 5), st.integers(1, 4), st.integers(0, 30))
@settings(max_examples=40, deadline=None)
def test_any_shape(n, k, d, seed):
    embeddings, centroids = draw(n, k, d, seed)
    assert student_t(embeddings, centroids).shape == (n, k)
    loss = embedded_clustering_loss(embeddings.requires_grad_(), centroids.requires_grad_())
    loss.backward()
    assert loss.shape == ()
    assert loss.item() >= -1e-12
    assert embeddings.grad.shape == (n, d)
    assert centroids.grad.shape == (k, d)
    assert torch.isfinite(embeddings.grad).all()
    assert torch.isfinite(centroids.grad).all()


def test_rows_and_columns_in_any_order():
    embeddings, centroids = draw(20, 5, 3)
    rows, columns = torch.randperm(20), torch.randperm(5)
    q = student_t(embeddings, centroids)
    torch.testing.assert_close(student_t(embeddings[rows], centroids[columns]), q[rows][:, columns])
    torch.testing.assert_close(target_distribution(q[rows][:, columns]), target_distribution(q)[rows][:, columns])
    torch.testing.assert_close(
        embedded_clustering_loss(embeddings[rows], centroids[columns]), embedded_clustering_loss(embeddings, centroids)
    )


@pytest.mark.parametrize("method", ["kmeans", "random"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 60])
def test_centroids_are_k_finite_distinct_rows(method, dtype, n):
    embeddings, _ = draw(n, 1, 3, dtype=dtype)
    centroids = initial_centroids(embeddings, 4, method, seed=3)
    assert centroids.shape == (4, 3)
    assert centroids.dtype == dtype
    assert torch.isfinite(centroids).all()
    assert len(centroids.unique(dim=0)) == 4
    assert centroids.equal(initial_centroids(embeddings, 4, method, seed=3))


@pytest.mark.parametrize("method", ["kmeans", "random"])
def test_centroids_of_identical_rows_come_without_warning(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        centroids = initial_centroids(torch.ones(50, 3), 4, method)
    assert len(centroids.unique(dim=0)) == 4
    assert (centroids - 1).abs().max() < 0.2


def test_kmeans_finds_the_blobs():
    centres = torch.tensor([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    blobs = centres.repeat(100, 1) + 0.1 * torch.randn(300, 2, generator=torch.Generator().manual_seed(0))
    found = initial_centroids(blobs.requires_grad_(), 3)
    assert not found.requires_grad
    assert torch.cdist(centres, found).min(1).values.max() < 0.1


def test_random_takes_rows_and_follows_the_seed():
    embeddings, _ = draw(100, 1, 3)
    centroids = initial_centroids(embeddings, 5, "random", seed=1)
    assert (centroids[:, None] == embeddings).all(2).any(1).all()
    assert not centroids.equal(initial_centroids(embeddings, 5, "random", seed=2))


def test_centroids_of_many_rows_and_no_global_generator():
    embeddings = torch.randn(25_000, 2, generator=torch.Generator().manual_seed(0))
    before = torch.get_rng_state()
    centroids = initial_centroids(embeddings, 3, seed=5)
    assert centroids.equal(initial_centroids(embeddings, 3, seed=5))
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: initial_centroids(torch.ones(3, 2), 2, "spectral"),
            "The 'method' parameter of initial_centroids must be one of 'kmeans', 'random'. Got 'spectral' instead.",
        ),
        (lambda: initial_centroids(torch.ones(3, 2), 0), "must be an int in the range [1, inf). Got 0 instead."),
        (lambda: initial_centroids(torch.full((3, 2), torch.nan), 2), "hold NaN or infinity"),
        (lambda: initial_centroids(torch.ones(3), 2), "Got the shape (3,) instead."),
        (lambda: student_t(torch.ones(3, 2), torch.ones(3, 4)), "Got the shapes (3, 2) and (3, 4) instead."),
        (lambda: embedded_clustering_loss(torch.ones(3), torch.ones(3, 4)), "Got the shapes (3,) and (3, 4) instead."),
        (
            lambda: embedded_clustering_loss(torch.ones(3, 2), torch.ones(4, 2), torch.ones(4, 3)),
            "must have the shape (3, 4). Got the shape (4, 3) instead.",
        ),
    ],
)
def test_bad_input_is_a_sentence(call, sentence):
    with pytest.raises(ParameterError) as caught:
        call()
    assert sentence in str(caught.value)
