"""Parts shared by all screens."""
