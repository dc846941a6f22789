"""Moved to `reviewer.tui.evidence.structure`; kept until every screen imports it there."""

from reviewer.tui.evidence.structure import LABEL_CELLS as LABEL_CELLS
from reviewer.tui.evidence.structure import Extras as Extras
from reviewer.tui.evidence.structure import conflict_blocks as conflict_blocks
from reviewer.tui.evidence.structure import entity_blocks as entity_blocks
from reviewer.tui.evidence.structure import hint_blocks as hint_blocks
from reviewer.tui.evidence.structure import labelled as labelled
