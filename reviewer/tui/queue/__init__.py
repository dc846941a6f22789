"""The Queue screen: candidates waiting for a decision."""
