"""Array operations on a gpucall server, with NumPy's names.

    import gpucall

    with gpucall.connect("localhost") as c:
        y = c.gaussian(image, sigma=2, mode="mirror")

`connect` gives a blocking client, `gpucall.aio.connect` an asyncio one. A `Program` is
several operations in one round trip. `receipts` tells what calls cost, `progress` how
far they are. What goes wrong is an `Error`.
"""

from gpucall import aio
from gpucall._client import Client, connect
from gpucall._error import Error
from gpucall._info import (
    Device,
    Limits,
    OperationInfo,
    Receipt,
    ServerInfo,
    receipts,
)
from gpucall._program import Program, Value
from gpucall._progress import progress
from gpucall._remote import RemoteArray

__all__ = [
    "Client",
    "Device",
    "Error",
    "Limits",
    "OperationInfo",
    "Program",
    "Receipt",
    "RemoteArray",
    "ServerInfo",
    "Value",
    "aio",
    "connect",
    "progress",
    "receipts",
]
