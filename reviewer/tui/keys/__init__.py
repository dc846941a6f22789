"""The tables of the key registry, one file a screen; `actions.py` puts them together."""
