"""Decisions about candidates and memories, and how candidates get into the queue."""
