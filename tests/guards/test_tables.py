"""Every table of README.md and docs comes out as at the recording, byte for byte, from the results there were then."""

import json

import pytest
from cases import REFERENCE, printed

COMMANDS = json.loads((REFERENCE / "show" / "commands.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", COMMANDS)
def test_table(frozen, name):
    assert printed(COMMANDS[name], frozen).encode() == (REFERENCE / "show" / name).read_bytes()
