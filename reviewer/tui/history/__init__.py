"""The History screen: the ledger, and undo of any act."""
