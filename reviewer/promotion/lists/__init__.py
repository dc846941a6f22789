"""What is read: the queue, and where each statement comes from."""
