"""Writing decided memories to files, after showing the difference."""
