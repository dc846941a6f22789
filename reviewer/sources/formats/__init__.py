"""Agents' session formats: one module per family, listed in `registry.py`."""
