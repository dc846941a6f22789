"""The Memory screen: trusted state, entities and active memories."""
