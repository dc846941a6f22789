"""Fuzz pipelines, histories, context folders, patterns, filters, conditions or settings by coverage
(needs `pip install atheris`):

python -m tests.property.fuzz_inputs dot -max_total_time=300
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

with atheris.instrument_imports(include=["reviewer"]):
    from tests.property.inputs import SEEDS, feed


def main() -> None:
    """Begin with the seeds of the target and go where the code has not been."""
    target = sys.argv.pop(1)
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(SEEDS[target]):
            (corpus / str(number)).write_bytes(seed)
        place = Path(folder)
        atheris.Setup([*sys.argv, str(corpus)], lambda data: feed(target, data, place))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
