"""The Compress screen: a level for each segment of a context, and what each level loses."""
