"""The Compress screen: a level for each segment of a context, and the losses of each level."""
