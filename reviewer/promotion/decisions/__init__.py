"""What a person decides."""
