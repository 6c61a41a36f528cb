"""What the rows of onnx_operators.py are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Row: TypeAlias = Callable[..., Any]


class LeftOut(Exception):
    """A case that no operation of gpucall does; str() of it is the reason."""


class Operations:
    """The methods of a client or a Program; LeftOut where there is none of the name.

    Attributes
    ----------
    used : set of str
        The methods that were called.
    """

    def __init__(self, caller: Any) -> None:
        self._caller = caller
        self.used: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self._caller, name):
            raise LeftOut(f"gpucall has no {name}")
        self.used.add(name)
        return getattr(self._caller, name)


def direct(name: str) -> Row:
    """The operation of this name, on the inputs."""
    return lambda ops, attributes, *inputs: getattr(ops, name)(*inputs)


def axes_of(attributes: Any, given: Any) -> tuple[int, ...] | None:
    """Axes from an attribute, or from the input that later versions have."""
    axes = attributes.get("axes") if given is None else given
    return None if axes is None else tuple(int(axis) for axis in axes)
