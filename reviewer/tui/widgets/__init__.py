"""Widgets that draw with the Line API."""
