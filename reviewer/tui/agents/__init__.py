"""The Agents screen: connections, packets sent, and proposals."""
