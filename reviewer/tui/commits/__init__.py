"""The Commits screen: a context as a chain of commits, and what each must keep."""
