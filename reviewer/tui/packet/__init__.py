"""The Packet screen: the packet an agent would get within a budget."""
