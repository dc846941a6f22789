"""Statements worth remembering: what proposes them, and what proves them."""
