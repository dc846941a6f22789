"""A session as a reader needs it, to word memories from its lines."""
