"""Predictions are those of the recording: to the bit on a machine of the recording, as far as rounding lets them be on another.

There is a recording for each kind of machine that the guards have been made on. Where processor, torch's kernels, torch, numpy, scipy and scikit-learn are those of the recording, the digests of logits and
embeddings are equal. Elsewhere sums have another order, and training makes more of a difference in the last bit: with the
kernels of older processors 72 of 73 cases stay within 1e-3 of the largest logit, and one (processes-appnp-partitions) is off
by 6e-2. So there a single case has a wide limit, LOOSE, and only where the same epoch was kept; and of all cases together
nine in ten must be within CLOSE and have kept the same epoch. A change of the code that matters fails most of its cases.
"""

import json

import numpy as np
import pytest
from cases import CASES, REFERENCE, machine, run_case

CLOSE, LOOSE, MOST = 1e-3, 0.25, 0.9
RECORDED = json.loads((REFERENCE / "results.json").read_text(encoding="utf-8"))
SAME = [recording["cases"] for recording in RECORDED["recordings"] if recording["machine"] == machine()]
FIRST = RECORDED["recordings"][0]["cases"]
seen: dict[str, tuple[bool, float]] = {}  # of each case: whether the epoch is the same, and how far off the logits are


@pytest.fixture(scope="module")
def logits():
    with np.load(REFERENCE / "logits.npz") as stored:
        return dict(stored)


def test_every_case_is_recorded(logits):
    assert list(CASES) == list(FIRST) == list(logits)


@pytest.mark.parametrize("name", CASES)
def test_case(name, logits):
    found = run_case(name)
    sample, expected = found.pop("sample"), (SAME or [FIRST])[0][name]
    assert sample.shape == logits[name].shape
    off = float(np.abs(sample - logits[name]).max() / np.abs(logits[name]).max())
    if SAME:
        assert found == expected, f"the logits are off by {off:.1e} of the largest of the first recording"
        return
    seen[name] = found["best_epoch"] == expected["best_epoch"], off
    assert (found["embeddings"] is None) == (expected["embeddings"] is None)
    if seen[name][0]:
        assert found["termination"] == expected["termination"]
        assert off <= LOOSE
        assert (sample.argmax(axis=1) == logits[name].argmax(axis=1)).mean() >= MOST


def test_most_cases_are_close():
    """Of the cases that ran before this test, in this process."""
    if SAME:
        pytest.skip("on the machine of the recording every case is compared to the bit")
    if len(seen) < len(CASES) / 3:
        pytest.skip("too few cases ran in this process to judge by")
    far = {name: result for name, result in seen.items() if not (result[0] and result[1] <= CLOSE)}
    assert len(far) <= (1 - MOST) * len(seen), far
