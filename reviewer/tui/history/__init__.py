"""The History screen: the ledger, and undo from there."""
