"""Many sessions, read by many processes or machines, into one queue."""
