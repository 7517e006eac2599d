"""The trained network of tests/network_fixtures.py."""

from tests.network_fixtures import _one_torch_thread, mnist, small, task

__all__ = ["_one_torch_thread", "mnist", "small", "task"]
