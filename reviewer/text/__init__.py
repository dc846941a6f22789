"""Pure functions on text: display, tokens, secrets, normalising, sentences, identifiers."""
