"""Sinkhorn against POT, against its own definition in the log domain, and at the edges."""

import itertools
import math
import warnings

import numpy as np
import ot
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgc.errors import NCGCError, ParameterError
from ncgc.losses import marginal_error, sinkhorn


def draw(n, k, seed=0, kind="probabilities", dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    logits = 4 * torch.randn(n, k, generator=generator, dtype=torch.float64)
    logits = logits + torch.randn(k, generator=generator, dtype=torch.float64)  # unbalanced classes
    made = {"probabilities": logits.softmax(1), "log_probabilities": logits.log_softmax(1), "logits": 10 * logits}
    return made[kind].to(dtype)


def draw_prior(k, seed=0):
    return torch.rand(k, generator=torch.Generator().manual_seed(100 + seed), dtype=torch.float64) + 0.05


def log_domain(scores, epsilon, iterations, prior, relaxation):
    """The definition, with a logsumexp at every half-round."""
    n = len(scores)
    kernel = scores.double() / epsilon
    log_target = torch.log(n * prior / prior.sum())
    rows = torch.zeros(n, dtype=torch.float64)
    columns = torch.zeros(scores.shape[1], dtype=torch.float64)
    for _ in range(iterations):
        columns = relaxation * (log_target - torch.logsumexp(kernel + rows[:, None], 0))
        rows = -torch.logsumexp(kernel + columns, 1)
    return torch.softmax(kernel + columns, 1)


@pytest.mark.parametrize("kind", ["probabilities", "log_probabilities", "logits"])
@pytest.mark.parametrize("epsilon", [1e-3, 1e-2, 0.04, 0.5, 10.0])
@pytest.mark.parametrize("relaxation", [1.0, 0.3])
@pytest.mark.parametrize("iterations", [1, 3, 40])
def test_equals_the_log_domain_definition(kind, epsilon, relaxation, iterations):
    scores, prior = draw(60, 5, kind=kind), draw_prior(5)
    expected = log_domain(scores, epsilon, iterations, prior, relaxation)
    torch.testing.assert_close(
        sinkhorn(scores, epsilon, iterations, prior, relaxation), expected, rtol=1e-6, atol=1e-11
    )
    single = scores.float()
    expected = log_domain(single, epsilon, iterations, prior, relaxation)
    found = sinkhorn(single, epsilon, iterations, prior, relaxation)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=3e-4)


@pytest.mark.parametrize("kind", ["probabilities", "logits"])
@pytest.mark.parametrize("epsilon", [1e-3, 3e-3, 1e-2, 0.04, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("relaxation", [0.0, 0.1, 0.7, 1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_finite_with_rows_of_one(kind, epsilon, relaxation, dtype):
    for iterations in (0, 1, 3, 30):
        targets = sinkhorn(draw(80, 6, kind=kind, dtype=dtype), epsilon, iterations, relaxation=relaxation)
        assert targets.dtype == dtype
        assert torch.isfinite(targets).all()
        assert (targets >= 0).all()
        torch.testing.assert_close(targets.sum(1), torch.ones(80, dtype=dtype))


@pytest.mark.parametrize("prior", [None, draw_prior(4)])
def test_exact_marginals_equal_pot(prior):
    scores = draw(30, 4)
    shares = np.full(4, 0.25) if prior is None else (prior / prior.sum()).numpy()
    expected = ot.sinkhorn(np.full(30, 1 / 30), shares, -scores.numpy(), 0.1, numItermax=20_000, stopThr=1e-14)
    found = sinkhorn(scores, 0.1, 2000, prior)
    np.testing.assert_allclose(found.numpy() / 30, expected, rtol=1e-6, atol=1e-12)


def test_exact_marginals_equal_pot_in_the_log_domain_at_small_epsilon():
    scores = draw(30, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that POT has not converged in 50 rounds is no matter: nor have we
        # POT starts with the columns too, so both are at the same place after as many rounds
        potentials = ot.bregman.sinkhorn_log(
            np.full(30, 1 / 30), np.full(4, 0.25), -scores.numpy(), 5e-3, numItermax=50, stopThr=0, log=True
        )[1]
    expected = torch.softmax(scores / 5e-3 + torch.from_numpy(potentials["log_v"]), 1)
    torch.testing.assert_close(sinkhorn(scores, 5e-3, 50), expected, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("relaxation", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_relaxed_marginals_equal_pot(relaxation, epsilon):
    scores, prior = draw(30, 4), draw_prior(4)
    weight = epsilon * relaxation / (1 - relaxation)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # POT warns that 'entropy' sets its reference measure to ones
        expected = ot.unbalanced.sinkhorn_unbalanced(
            np.full(30, 1 / 30),
            (prior / prior.sum()).numpy(),
            -scores.numpy(),
            epsilon,
            reg_m=(float("inf"), weight),
            reg_type="entropy",
            numItermax=20_000,
            stopThr=1e-15,
        )
    np.testing.assert_allclose(expected.sum(1), 1 / 30, rtol=1e-8)
    np.testing.assert_allclose(
        sinkhorn(scores, epsilon, 500, prior, relaxation).numpy() / 30, expected, rtol=1e-6, atol=1e-12
    )


def test_relaxed_with_uniform_prior_equals_pot_of_either_kind():
    scores = draw(30, 4)
    expected = ot.unbalanced.sinkhorn_unbalanced(
        np.full(30, 1 / 30),
        np.full(4, 0.25),
        -scores.numpy(),
        0.2,
        reg_m=(float("inf"), 0.2),
        reg_type="kl",
        numItermax=20_000,
        stopThr=1e-15,
    )
    np.testing.assert_allclose(sinkhorn(scores, 0.2, 500, relaxation=0.5).numpy() / 30, expected, rtol=1e-6, atol=1e-12)


def test_converged_marginals_are_the_prior():
    prior = draw_prior(5)
    targets = sinkhorn(draw(500, 5), 0.1, 3000, prior)
    torch.testing.assert_close(targets.mean(0), prior / prior.sum(), rtol=1e-6, atol=0)
    assert marginal_error(targets, prior) < 1e-6
    assert marginal_error(targets) > 0.01


def test_no_relaxation_no_rounds_and_softmax_are_one():
    scores = draw(40, 6)
    expected = torch.softmax(scores / 0.04, 1)
    torch.testing.assert_close(sinkhorn(scores, relaxation=0.0), expected)
    torch.testing.assert_close(sinkhorn(scores, iterations=0), expected)
    torch.testing.assert_close(sinkhorn(scores, 0.04, 50, relaxation=1e-9), expected, rtol=1e-6, atol=1e-12)


def test_relaxation_near_one_is_exact():
    scores, prior = draw(40, 6), draw_prior(6)
    exact, near = (sinkhorn(scores, 0.2, 3000, prior, relaxation) for relaxation in (1.0, 1 - 1e-7))
    torch.testing.assert_close(near, exact, rtol=1e-4, atol=1e-6)


def test_marginal_error_falls_with_relaxation():
    scores, prior = draw(200, 6), draw_prior(6)
    errors = [
        marginal_error(sinkhorn(scores, 0.2, 2000, prior, relaxation), prior)
        for relaxation in np.linspace(0, 1, 11).tolist()
    ]
    assert all(later < earlier for earlier, later in itertools.pairwise(errors))
    assert errors[-1] < 1e-8


@pytest.mark.parametrize("relaxation", [0.05, 0.3, 0.8])
def test_does_not_depend_on_the_rounds_once_converged(relaxation):
    scores = draw(100, 5)
    torch.testing.assert_close(
        sinkhorn(scores, 0.2, 200, relaxation=relaxation), sinkhorn(scores, 0.2, 900, relaxation=relaxation)
    )


def test_constant_shift_of_all_scores_changes_nothing():
    scores = draw(50, 4)
    torch.testing.assert_close(sinkhorn(scores + 1e4, 0.04), sinkhorn(scores, 0.04), rtol=1e-6, atol=1e-9)


@given(st.integers(0, 12), st.integers(1, 9), st.sampled_from([0.0, 0.4, 1.0]), st.integers(0, 4), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_any_shape(n, k, relaxation, iterations, seed):
    scores = draw(n, k, seed, dtype=torch.float32)
    targets = sinkhorn(scores, 0.05, iterations, draw_prior(k, seed), relaxation)
    assert targets.shape == (n, k)
    assert torch.isfinite(targets).all()
    torch.testing.assert_close(targets.sum(1), torch.ones(n))


@given(st.integers(1, 20), st.integers(1, 6), st.sampled_from([0.3, 1.0]), st.sampled_from([1e-3, 0.05, 2.0]))
@settings(max_examples=40, deadline=None)
def test_rows_and_columns_in_any_order(n, k, relaxation, epsilon):
    scores, prior = draw(n, k, n), draw_prior(k, n)
    rows, columns = torch.randperm(n), torch.randperm(k)
    straight = sinkhorn(scores, epsilon, 5, prior, relaxation)
    turned = sinkhorn(scores[rows][:, columns], epsilon, 5, prior[columns], relaxation)
    torch.testing.assert_close(turned, straight[rows][:, columns], rtol=1e-6, atol=1e-12)


def test_single_class_and_single_row():
    # to the last bit but one: a row is divided by its own sum
    torch.testing.assert_close(sinkhorn(draw(7, 1, dtype=torch.float32)), torch.ones(7, 1), rtol=0, atol=2e-7)
    torch.testing.assert_close(sinkhorn(torch.tensor([[0.9, 0.1]]), 1.0), torch.tensor([[0.5, 0.5]]))


@pytest.mark.parametrize("relaxation", [0.3, 1.0])
@pytest.mark.parametrize("epsilon", [1e-3, 0.04, 1.0])
def test_a_class_of_share_zero_gets_nothing(relaxation, epsilon):
    scores = draw(30, 4, dtype=torch.float32)
    targets = sinkhorn(scores, epsilon, 5, [0.5, 0.0, 0.2, 0.3], relaxation)
    assert (targets[:, 1] == 0).all()
    others = sinkhorn(scores[:, [0, 2, 3]], epsilon, 5, [0.5, 0.2, 0.3], relaxation)
    torch.testing.assert_close(targets[:, [0, 2, 3]], others, rtol=1e-4, atol=1e-5)


def test_a_class_nobody_scores_still_gets_its_share():
    """All of its kernel underflows in float32: the column has to be summed in the log domain."""
    scores = draw(50, 4, dtype=torch.float32)
    scores[:, 2] = -3.0
    targets = sinkhorn(scores, 5e-3, 400)
    assert torch.isfinite(targets).all()
    assert float(targets[:, 2].mean()) == pytest.approx(0.25, abs=0.01)
    expected = log_domain(scores, 5e-3, 400, torch.ones(4, dtype=torch.float64), 1.0)
    torch.testing.assert_close(targets.double(), expected, rtol=1e-3, atol=1e-3)


def test_float32_is_accurate_on_many_rows():
    scores = draw(35_000, 10)
    exact = sinkhorn(scores, 0.04, 30)
    single = sinkhorn(scores.float(), 0.04, 30)
    assert float((single - exact).abs().max()) < 5e-6
    assert abs(marginal_error(single) - marginal_error(exact)) < 1e-5


def test_targets_carry_no_gradient_and_scores_are_left_alone():
    scores = draw(20, 3).requires_grad_()
    before = scores.detach().clone()
    targets = sinkhorn(scores)
    assert not targets.requires_grad
    assert targets.grad_fn is None
    assert scores.detach().equal(before)
    for relaxation, iterations in [(0.0, 3), (1.0, 0), (0.5, 3)]:
        assert not sinkhorn(scores, iterations=iterations, relaxation=relaxation).requires_grad
    assert scores.detach().equal(before)


def test_same_result_to_the_bit():
    scores = draw(300, 5, dtype=torch.float32)
    assert sinkhorn(scores).equal(sinkhorn(scores))


def test_scores_of_any_layout():
    scores = draw(40, 4)
    strided = scores.t().contiguous().t()
    torch.testing.assert_close(sinkhorn(strided), sinkhorn(scores))


def test_more_rounds_leave_a_smaller_marginal_error():
    errors = [marginal_error(sinkhorn(draw(50, 4), 0.1, rounds)) for rounds in (0, 1, 7)]
    assert errors == sorted(errors, reverse=True)
    assert marginal_error(torch.empty(0, 3)) == 0.0
    assert marginal_error(torch.eye(2), [1, 0]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"epsilon": -1},
            "The 'epsilon' parameter of sinkhorn must be a float in the range (0.0, inf). Got -1 instead.",
        ),
        ({"epsilon": 0}, "Got 0 instead."),
        ({"epsilon": math.nan}, "Got nan instead."),
        ({"epsilon": "0.1"}, "Got '0.1' instead."),
        (
            {"relaxation": 1.5},
            "The 'relaxation' parameter of sinkhorn must be a float in the range [0.0, 1.0]. Got 1.5 instead.",
        ),
        (
            {"iterations": -1},
            "The 'iterations' parameter of sinkhorn must be an int in the range [0, inf). Got -1 instead.",
        ),
        ({"iterations": 2.5}, "Got 2.5 instead."),
        ({"prior": [0.5, 0.5]}, "Got the shape (2,) instead."),
        ({"prior": [0.5, -0.5, 1.0]}, "Got [0.5, -0.5, 1.0] instead."),
        ({"prior": [0, 0, 0]}, "with a positive sum. Got [0.0, 0.0, 0.0] instead."),
        ({"prior": [math.nan, 1, 1]}, "Got [nan, 1.0, 1.0] instead."),
        ({"prior": [math.inf, 1, 1]}, "Got [inf, 1.0, 1.0] instead."),
        ({"prior": "true"}, "must be 'uniform' or 3 non-negative shares, one a class, with a positive sum. Got 'true'"),
        ({"scores": torch.tensor([[0.0, math.nan, 1.0]])}, "hold NaN or infinity"),
        ({"scores": torch.tensor([[0.0, math.inf, 1.0]])}, "hold NaN or infinity"),
        ({"scores": torch.tensor([[0.0, -math.inf, 1.0]])}, "hold NaN or infinity"),
        ({"scores": torch.zeros(3)}, "Got the shape (3,) instead."),
        ({"scores": torch.zeros(3, 0)}, "Got the shape (3, 0) instead."),
    ],
)
def test_bad_input_is_a_sentence(change, sentence):
    with pytest.raises(ParameterError) as caught:
        sinkhorn(**({"scores": torch.zeros(4, 3)} | change))
    assert sentence in str(caught.value)
    assert isinstance(caught.value, NCGCError)
