"""A text that one act makes, such as a hand-over: read and copied."""
