"""What happened in a session, from its events alone: work state and findings."""
