"""What a person may do to candidates and memories, and how candidates get into the queue."""
