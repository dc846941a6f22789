"""Segments, anchors, the four levels, retention checks, fidelity, expansion."""
