"""What a masked secret begins with. Apart from `text/secrets`, whose rules take time to load."""

MASK = "[masked "
"""The kind of the secret and `]` follow."""
