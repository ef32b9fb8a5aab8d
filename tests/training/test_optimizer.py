"""Adam without the compiler: torch's numbers, and no import of it."""

import subprocess
import sys

import pytest
import torch

from ncgc.training.optimizer import Adam

QUICK = """
import sys
import numpy as np
from ncgc import NCGC, load_dataset
from ncgc.models.registry import find_classifier
graph = load_dataset("digits")
NCGC(epochs=2, warmup=1).fit(graph)
find_classifier("pta")(epochs=2).fit(graph)
print("torch._dynamo" in sys.modules)
"""


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_equals_torch_to_the_bit(fused, weight_decay):
    weights = []
    for kind in (Adam, torch.optim.Adam):
        weight = torch.nn.Parameter(torch.randn(5, 3, generator=torch.Generator().manual_seed(1)))
        late = torch.nn.Parameter(torch.randn(3, generator=torch.Generator().manual_seed(2)))
        optimizer = kind([weight], lr=0.1, weight_decay=weight_decay, fused=fused)
        for epoch in range(7):
            if epoch == 2:
                optimizer.add_param_group({"params": [late], "weight_decay": 0.0})
            if epoch == 4:
                state = optimizer.state_dict()
                optimizer = kind([{"params": [weight]}, {"params": [late]}], lr=1.0, fused=fused)
                optimizer.load_state_dict(state)
            optimizer.zero_grad(set_to_none=True)
            ((weight * late).cos().sum() + epoch * weight.square().sum()).backward()
            optimizer.step()
        weights.append(torch.cat([weight.flatten(), late]))
    assert torch.equal(*weights)


def test_the_compiler_is_not_imported():
    run = subprocess.run([sys.executable, "-c", QUICK], capture_output=True, text=True, timeout=600, check=True)
    assert run.stdout.split()[-1] == "False"
