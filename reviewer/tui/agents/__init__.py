"""The Agents screen: which agents are connected, what each was given and what it proposed."""
