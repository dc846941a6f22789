"""Which memory belongs to which moment, and what its use saved."""
