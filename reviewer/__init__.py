"""Decide what an AI agent may remember, and how small its context may get."""

__version__ = "0.1.0"
