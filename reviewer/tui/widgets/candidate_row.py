"""Moved to `reviewer.tui.evidence.row_sign`; kept until every screen imports it there."""

from reviewer.tui.evidence.row_sign import NO_BADGES as NO_BADGES
from reviewer.tui.evidence.row_sign import Badges as Badges
from reviewer.tui.evidence.row_sign import sign_of as sign_of
