"""The Agents screen."""
