"""Rows of memories, entities and evidence, written inside an act."""
