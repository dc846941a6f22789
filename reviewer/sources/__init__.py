"""L0: one reader per format, chosen by content; yields records with exact positions."""
