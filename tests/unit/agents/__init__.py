"""Rules of what agents are given and how their settings are written."""
