"""Rules over records that propose candidates; pure, no store."""
