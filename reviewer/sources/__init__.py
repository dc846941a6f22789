"""L0: one reader per format, chosen by content, giving records with exact positions."""
