"""A person's decisions."""
