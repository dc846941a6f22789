"""The hand-over of a session or a context: read, copied, written to a file."""
