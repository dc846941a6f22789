"""A context: its turns, what must survive of them, and the levels they are sent at."""
