"""Moved to `reviewer.tui.evidence.candidate_pane`; kept until every screen imports it there."""

from reviewer.tui.evidence.candidate_pane import NOTHING as NOTHING
from reviewer.tui.evidence.candidate_pane import CandidatePane as CandidatePane
from reviewer.tui.evidence.candidate_pane import candidate_blocks as candidate_blocks
from reviewer.tui.evidence.candidate_pane import candidate_title as candidate_title
