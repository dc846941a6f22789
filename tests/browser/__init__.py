"""`reviewer serve` in a real browser."""
