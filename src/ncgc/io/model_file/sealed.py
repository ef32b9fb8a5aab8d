"""JSON with a seal: an object that knows whether it is still as it was written, and hands out entries by their type."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

SEAL = "checksum"
NAMES = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


class Damage(ValueError):
    """What is wrong with a file, in words that go on after "The model in … cannot be read: "."""


def digest(content: bytes) -> str:
    """The SHA-256 checksum of some bytes.

    Args:
        content: the bytes.

    Returns:
        64 hexadecimal digits.
    """
    return hashlib.sha256(content).hexdigest()


def plain(value: Any) -> Any:
    """Convert a value to what JSON can hold.

    Args:
        value: a scalar or array of NumPy, or a value of Python.

    Returns:
        The same as Python's own numbers, text or lists.

    >>> plain(np.float32(0.5)), plain(np.arange(2)), plain("a")
    (0.5, [0, 1], 'a')
    """
    if isinstance(value, np.ndarray | list | tuple):
        return np.asarray(value).tolist()
    return value.item() if isinstance(value, np.generic) else value


def sealed(values: Mapping[str, Any]) -> str:
    """Write an object as JSON whose last entry is a checksum of all the others.

    Args:
        values: the entries.

    Returns:
        The JSON text.

    Raises:
        ValueError: if a number is NaN or infinite.
        TypeError: if an entry is of a type that JSON does not have.

    >>> unsealed(sealed({"a": 1}))
    {'a': 1}
    """
    plain = json.loads(json.dumps(values, allow_nan=False))
    return json.dumps({**plain, SEAL: _checksum(plain)}, indent=1) + "\n"


def parsed(text: bytes) -> dict[str, Any]:
    """Read a JSON object without checking its seal.

    Args:
        text: JSON in UTF-8.

    Returns:
        The entries, the checksum among them.

    Raises:
        Damage: if the text is not a JSON object.
    """
    try:
        values = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise Damage(f"it is not JSON ({str(error).splitlines()[0]})") from None
    if not isinstance(values, dict):
        raise Damage(f"it is {_name(values)}, not {NAMES[dict]}")
    return values


def unsealed(text: str | bytes) -> dict[str, Any]:
    """Read what :func:`sealed` wrote.

    Args:
        text: the JSON text.

    Returns:
        The entries, without the checksum.

    Raises:
        Damage: if the text is not a JSON object, or was changed after it was written.
    """
    values = parsed(text.encode() if isinstance(text, str) else text)
    found = values.pop(SEAL, None)
    try:
        whole = found == _checksum(values)
    except (ValueError, RecursionError):  # NaN, which is no JSON though Python reads it
        whole = False
    if not whole:
        raise Damage("it was changed after it was written (its checksum does not fit)")
    return values


class Record:
    """An object read from JSON, whose entries must be present and of the expected type.

    >>> Record({"n": 3}, "model.json")("n", int)
    3
    >>> Record({"n": "3"}, "model.json")("n", int)
    Traceback (most recent call last):
    ...
    ncgc.io.model_file.sealed.Damage: model.json has text under 'n', not a whole number
    """

    def __init__(self, values: dict[str, Any], name: str):
        self.values, self.name = values, name

    def __call__(self, key: str, *kinds: type | None) -> Any:
        """The entry under ``key``; None among ``kinds`` allows null."""
        if key not in self.values:
            raise Damage(f"{self.name} has no {key!r}")
        value = self.values[key]
        if value is None and None in kinds:
            return None
        if not any(kind is not None and _is(value, kind) for kind in kinds):
            wanted = " or ".join("null" if kind is None else NAMES[kind] for kind in kinds)
            raise Damage(f"{self.name} has {_name(value)} under {key!r}, not {wanted}")
        return value

    def inner(self, key: str) -> Record:
        """The object under a key, as another record.

        Args:
            key: name of the entry.

        Returns:
            The record, which names this one in its messages.

        Raises:
            Damage: if there is no such entry, or it is not an object.
        """
        return Record(self(key, dict), f"{self.name}, {key!r},")


def _is(value: Any, kind: type) -> bool:
    """Whether a value read from JSON is of a type: true and false are no numbers, whole numbers are numbers."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)


def _name(value: Any) -> str:
    return "null" if value is None else NAMES[type(value)]


def _checksum(values: dict[str, Any]) -> str:
    return digest(json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False).encode())
