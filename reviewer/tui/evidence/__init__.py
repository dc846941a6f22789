"""The provenance of a memory: candidate and evidence panes, the source, and the steps to it."""
