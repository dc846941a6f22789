"""Fuzz the readers by coverage, as long as you like (needs `pip install atheris`):

python -m tests.property.fuzz_readers -max_total_time=300
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

with atheris.instrument_imports(include=["reviewer"]):
    from tests.property.readers import SEEDS, read_everything


def main() -> None:
    """Begin with the seeds and go where the code has not been."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(SEEDS):
            (corpus / str(number)).write_bytes(seed)
        place = Path(folder)
        atheris.Setup([*sys.argv, str(corpus)], lambda data: read_everything(data, place) and None)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
