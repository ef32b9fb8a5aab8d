"""The fixture `ncgc`, shared with the tests of the other verbs."""

from ...cli.conftest import ncgc

__all__ = ["ncgc"]
