"""The Packet screen: the packet that an agent would get within a budget."""
