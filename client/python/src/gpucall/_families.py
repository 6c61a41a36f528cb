"""All families of operations together: what clients, keepers and Programs offer."""

from __future__ import annotations

from gpucall._creation import Creation
from gpucall._elementwise import Elementwise
from gpucall._filters import Filters
from gpucall._images import Images
from gpucall._lines import Lines
from gpucall._matmul import MatMul
from gpucall._network import Network
from gpucall._operations import Operand, Result
from gpucall._rearrange_axes import RearrangeAxes
from gpucall._reductions import Reductions
from gpucall._signals import Signals


class Operations(
    Elementwise[Operand, Result],
    MatMul[Operand, Result],
    Network[Operand, Result],
    Filters[Operand, Result],
    Reductions[Operand, Result],
    RearrangeAxes[Operand, Result],
    Lines[Operand, Result],
    Creation[Operand, Result],
    Images[Operand, Result],
    Signals[Operand, Result],
):
    """Every operation that gives one array."""
