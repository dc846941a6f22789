"""Rules that turn records into candidates; pure, without a store."""
