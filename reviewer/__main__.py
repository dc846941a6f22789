"""`python -m reviewer`: the same as the `reviewer` command."""

from reviewer.main import program

program()
