"""The command line: one file per noun; data on stdout, narration on stderr."""
