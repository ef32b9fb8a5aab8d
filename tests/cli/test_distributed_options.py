"""Options for several processes and checkpoints, without starting any."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from ncgc.cli.distributed_options import DistributedOptions
from ncgc.errors import ParameterError
from ncgc.models.registry import find_classifier

ALONE = {"distributed": False, "processes": 2, "timeout": 300.0, "checkpoint": None, "every": 10, "resume": False}


def options(**changed):
    return DistributedOptions(**ALONE | changed)


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"processes": 0}, "The 'processes' parameter of ncgc train must be an int in the range [1, inf)"),
        ({"every": 0}, "The 'every' parameter of ncgc train"),
        ({"timeout": 0.0}, "The 'timeout' parameter of ncgc train"),
        ({"resume": True}, "--resume needs --checkpoint DIR"),
    ],
)
def test_values_out_of_range(wrong, part):
    with pytest.raises(ParameterError) as raised:
        options(**wrong)
    assert part in str(raised.value)


def test_several_runs_have_a_folder_each():
    some = options(checkpoint=Path("kept"), every=3, resume=True)
    one, several = some.checkpointing(5, runs=1), some.checkpointing(5, runs=2)
    assert (one.folder, one.every, one.resume) == (Path("kept"), 3, True)
    assert several.folder == Path("kept/seed-5")
    assert options().checkpointing(5, runs=2) is None


@pytest.mark.parametrize("given", [{"distributed": True}, {"checkpoint": Path("kept")}])
def test_a_method_that_trains_in_one_process_is_refused(given):
    with pytest.raises(ParameterError, match="gcn trains in one process"):
        options(**given).check_method("gcn", find_classifier("gcn"))
    options(**given).check_method("ncgc", find_classifier("ncgc"))
    options().check_method("gcn", find_classifier("gcn"))


def test_alone_this_process_is_the_first():
    assert options().first
    some = options()
    some.group = SimpleNamespace(first=False)
    assert not some.first
