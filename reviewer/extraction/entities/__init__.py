"""The typed entity extractor: records in, entity candidates out; pure, beside the memory rules.

`extract` proposes, `conflicts` compares, `entity` holds the values; nothing is imported here, so
that who only needs the values does not pay for the rules.
"""
