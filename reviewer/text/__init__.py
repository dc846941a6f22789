"""Pure functions over text: display, tokens, secrets, normalising, sentences, identifiers."""
