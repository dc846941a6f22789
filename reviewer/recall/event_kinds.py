"""Kinds of events at which an agent gets memories. No imports: hooks load this at every call."""

START = "start"
"""A packet, which contains most memories of a small project."""

PROMPT = "prompt"
ERROR = "error"
EDIT = "edit"
GUARD = "guard"

CALL, FILE = "command", "path"
"""No event, but all that agents get at one call or for one file: before it, after it, and with a
prompt that names it."""
