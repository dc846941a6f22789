"""The Commits screen: a context as a chain of commits, and the retention rules of each."""
