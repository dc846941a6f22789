"""The former place of these names; import them from `reviewer.files`."""

from __future__ import annotations

from reviewer.files import open_plain as open_plain
from reviewer.files import read_small as read_small
