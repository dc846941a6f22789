"""The Pipelines screen: a pipeline, the input of each of its nodes and why, and its runs."""
