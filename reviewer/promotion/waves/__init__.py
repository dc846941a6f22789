"""How candidates get into the queue: files, findings, statements of readers."""
