"""The formats of agents' sessions: a module for each family, listed in `registry.py`."""
