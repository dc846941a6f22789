"""The agents' side: MCP server, hooks, and their settings files."""
