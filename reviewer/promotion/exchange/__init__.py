"""Decisions of other people and machines."""
