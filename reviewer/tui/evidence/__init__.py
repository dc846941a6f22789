"""Where something is known from: candidate and evidence panes, the source, every step to it."""
