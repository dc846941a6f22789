"""Summaries made of the source's own sentences, without a model."""
