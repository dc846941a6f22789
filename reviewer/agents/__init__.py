"""What agents get from here and hand in: the MCP server, their hooks, and their settings files."""
