"""The State screen: trusted state, entities and active memories."""
