"""A memory and where it comes from, as panes that several screens show."""
