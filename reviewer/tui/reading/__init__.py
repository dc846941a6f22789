"""The Reading screen: a generated text, such as a hand-over, to read and copy."""
