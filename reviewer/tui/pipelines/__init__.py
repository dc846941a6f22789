"""The Pipelines screen: a pipeline, its runs, and the input of each node."""
