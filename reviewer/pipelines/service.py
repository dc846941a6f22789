"""`engine.pipelines`: pipelines, their runs, and what a run would hand to each stage."""

from __future__ import annotations

from reviewer.clock import Clock
from reviewer.pipelines.rules import PipelineRules
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger


class Pipelines:
    """Pipelines and their runs. `rules` needs no store; runs are rows and folders beside it."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self.rules = PipelineRules()
