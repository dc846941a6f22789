"""Moved to `reviewer.tui.evidence.difference`; kept until every screen imports it there."""

from reviewer.tui.evidence.difference import difference as difference
