"""Which memories are in dispute, in SQL; a module of its own, because hooks at calls ask it."""

IS_DISPUTED = (
    "EXISTS (SELECT 1 FROM conflict c JOIN memory o ON o.id = c.left_id + c.right_id - m.id"
    " WHERE m.id IN (c.left_id, c.right_id) AND c.resolution IS NULL AND o.status = 'active')"
)
"""Whether an active row `m` of `memory` has an open conflict with another active one."""
