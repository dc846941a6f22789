"""Writing what was decided to files, after showing the difference."""
