"""The SQLite file and its one door for writes, the ledger."""
