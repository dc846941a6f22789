"""Real agents, connected by `reviewer connect`, against a model of our own on this machine."""
