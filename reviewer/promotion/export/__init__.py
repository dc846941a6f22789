"""Exports of trusted state, entities and memories, for people and for agents."""
