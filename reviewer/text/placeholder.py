"""The prefix of a masked secret. Separate from `text/secrets`, whose rules are slow to load."""

MASK = "[masked "
"""Followed by the kind of secret and `]`."""
