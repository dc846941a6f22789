"""Summaries without a model: what was said and done, told in one shape at every size."""
