"""Which memories are in dispute, in SQL; a module of its own, because hooks at calls ask it."""

_OPEN = "FROM conflict c JOIN memory o ON o.id = c.{} WHERE c.resolution IS NULL"
IS_DISPUTED = (
    f"m.id IN (SELECT c.left_id {_OPEN.format('right_id')} AND o.status = 'active'"
    f" UNION ALL SELECT c.right_id {_OPEN.format('left_id')} AND o.status = 'active')"
)
"""Whether a row `m` of `memory` has an open conflict with an active one."""
