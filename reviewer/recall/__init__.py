"""Memories recalled at the moment they apply, and whether they helped."""
