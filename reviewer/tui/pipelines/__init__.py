"""The Pipelines screen: a pipeline, what each of its nodes gets and why, and its runs."""
