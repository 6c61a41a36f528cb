"""The gpucall command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; what goes wrong is one line on standard error and exit code 1."""
    try:
        from gpucall.cli.app import EXPECTED, app
    except ModuleNotFoundError as error:
        sys.exit(f"gpucall: {error.name} is missing: pip install 'gpucall[cli]'")
    try:
        app()
    except EXPECTED as error:
        sys.exit("gpucall: " + " ".join(str(error).split()))
