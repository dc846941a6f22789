"""Reading the store: the queue, facts, findings and sources."""
