"""Moved to `reviewer.tui.evidence.evidence_pane`; kept until every screen imports it there."""

from reviewer.tui.evidence.evidence_pane import EvidencePane as EvidencePane
from reviewer.tui.evidence.evidence_pane import evidence_blocks as evidence_blocks
from reviewer.tui.evidence.evidence_pane import evidence_title as evidence_title
