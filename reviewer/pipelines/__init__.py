"""Pipelines: DOT, fidelity and thread resolution, preambles, runner, checkpoints."""
