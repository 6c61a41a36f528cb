"""python -m gpucall: the gpucall command."""

from gpucall.cli import main

main()
