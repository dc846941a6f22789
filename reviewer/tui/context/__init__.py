"""A context: its turns, the parts of them that must survive, and the levels they are sent at."""
