"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

ServerOption = Annotated[
    str,
    typer.Option(
        "--server",
        "-s",
        envvar="GPUCALL_SERVER",
        default_factory=lambda: "127.0.0.1:7625",
        show_default="127.0.0.1:7625",
        help="The server, host:port or unix:/path.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TimeoutOption = Annotated[
    float | None, typer.Option(help="Seconds that the call may take.", min=0.001)
]
