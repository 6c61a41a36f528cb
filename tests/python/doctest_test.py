"""The examples in the docstrings, run against a server."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
import pytest

import gpucall
from server_process import ServerProcess


def examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {}
    for module in pkgutil.iter_modules(gpucall.__path__):
        if module.name not in ("__main__", "cli"):
            for test in finder.find(importlib.import_module(f"gpucall.{module.name}")):
                found[test.name] = test
    return [test for test in found.values() if test.examples]


EXAMPLES = examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=[e.name for e in EXAMPLES])
def test_example(
    example: doctest.DocTest, c: gpucall.Client, server: ServerProcess
) -> None:
    example.globs = {
        "asyncio": asyncio,
        "c": c,
        "gpucall": gpucall,
        "np": np,
        "target": server.address,
    }
    report: list[str] = []
    doctest.DocTestRunner().run(example, out=report.append)
    assert not report, "".join(report)


def public() -> list[Any]:
    """The package's public classes and functions, and their public methods."""
    names = [getattr(gpucall, name) for name in gpucall.__all__ if name != "aio"]
    methods = [
        method
        for kind in (gpucall.Client, gpucall.Program)
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    ]
    return [*names, *methods, gpucall.aio.connect]


def test_what_is_public_has_a_docstring_and_methods_an_example() -> None:
    assert len(public()) > 50
    for thing in public():
        assert thing.__doc__, thing
        if inspect.isfunction(thing):
            assert ">>>" in thing.__doc__, thing
