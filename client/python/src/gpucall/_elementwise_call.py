"""How elementwise operations are called, whatever they compute."""

from __future__ import annotations

from typing import Any

from gpucall import _wire
from gpucall._operations import Call, Caller, Operand, Result


class ElementwiseCaller(Caller[Operand, Result]):
    """Makes calls of the operations of the wire's ElementwiseOp."""

    def _elementwise(
        self, name: str, *operands: Any, timeout: float | None, promoted: int = 0
    ) -> Result:
        operation = _wire.Operation(elementwise=_wire.ELEMENTWISE_OPS[name])
        return self._call(Call(operation, operands, promoted, timeout))
