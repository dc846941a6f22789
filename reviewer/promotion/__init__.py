"""The queue of candidates, and decisions about candidates and memories."""
