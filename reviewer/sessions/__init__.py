"""Session analysis from events alone: work state and findings."""
