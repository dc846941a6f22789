"""The SQLite file and the ledger, the only way to write to it."""
