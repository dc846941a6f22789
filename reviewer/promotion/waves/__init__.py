"""Filling the queue: files, findings, statements of readers."""
