"""The Queue screen: candidates that wait for a decision."""
