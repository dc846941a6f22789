"""What most services over the store are made of."""

from __future__ import annotations

from reviewer.clock import Clock
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger


class Service:
    """Reads the store, writes through its ledger, and knows the time."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
