"""The SQLite file, and the ledger for writing to it."""
