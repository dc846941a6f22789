"""Proposing statements worth remembering, and proving them."""
