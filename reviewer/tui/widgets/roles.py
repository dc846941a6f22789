"""Moved to `reviewer.tui.evidence.roles`; kept until every screen imports it there."""

from reviewer.tui.evidence.roles import ROLE_CELLS as ROLE_CELLS
from reviewer.tui.evidence.roles import role_cells as role_cells
from reviewer.tui.evidence.roles import role_runs as role_runs
