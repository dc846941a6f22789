"""A context as a chain of commits: priorities, retention criteria, compile."""
