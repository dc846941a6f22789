"""The entity extractor: `extract` proposes, `conflicts` compares, `entity` has the values.

This module imports none of them, so that code that needs only the values does not load the rules.
"""
