"""Kinds of events at which an agent gets memories. No imports: hooks load this at every call."""

START = "start"
"""A packet, which contains most memories of a small project."""

PROMPT = "prompt"
ERROR = "error"
EDIT = "edit"
GUARD = "guard"
