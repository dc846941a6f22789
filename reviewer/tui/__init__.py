"""The screen: a Textual application over the engine."""
