"""Where something is known from: its source at the line, and every step down to it."""
