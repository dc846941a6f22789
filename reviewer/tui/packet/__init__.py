"""The Packet screen: what an agent would get within a budget."""
