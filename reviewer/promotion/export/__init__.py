"""What leaves the reviewer: trusted state, entities and memories, for people and for agents."""
