"""The text that a fresh session begins with (context-fidelity.md, "Summary Construction").

Budgets are ceilings on the text, counted with the real encoding: the oldest entries go first, then
long values are shortened with a mark that says how much is missing. The run is only read. What
looks like a secret is masked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from reviewer.errors import ReviewerError
from reviewer.pipelines.values import CEILINGS, MODES, Pipeline, Preamble, RunHistory

if TYPE_CHECKING:
    from reviewer.pipelines.preamble_modes import Draft

_CORRECTIONS = 8


def build_preamble(mode: str, pipeline: Pipeline, history: RunHistory, node: str) -> Preamble:
    """The preamble of a mode for `node` after what `history` tells.

    In `full` mode the text is empty: the session goes on. The newest stage is named in every other
    mode but `truncate`. Raises ReviewerError for an unknown mode.
    """
    if mode not in MODES:
        raise ReviewerError(f"There is no fidelity mode {mode!r}; there are: {', '.join(MODES)}.")
    if mode == "full":
        return Preamble(mode, "", 0, 0)
    from reviewer.pipelines.preamble_budget import shorten
    from reviewer.pipelines.preamble_facts import facts_of
    from reviewer.pipelines.preamble_modes import BUILDERS, GOAL_OF_ROOM, TELL_VALUES
    from reviewer.text.tokens import counter

    count, budget = counter().count, CEILINGS[mode]
    facts = facts_of(pipeline, history, node)
    whole = BUILDERS[mode](facts, budget, count, budget)
    tokens = count(whole.text)
    values_missing = whole.values_left_out and mode in TELL_VALUES
    if tokens <= budget and not (whole.shortened or whole.left_out or values_missing):
        return _preamble(mode, whole, tokens)
    room = budget
    # Tokens of parts do not quite add up to those of the whole, so the whole is counted.
    for _ in range(_CORRECTIONS):
        draft = BUILDERS[mode](facts, room, count, room // GOAL_OF_ROOM)
        tokens = count(draft.text)
        if tokens <= budget:
            return _preamble(mode, draft, tokens)
        room -= tokens - budget + 1
    text = shorten(draft.text, budget, count)  # names alone are longer than the ceiling
    cut = msgspec.structs.replace(draft, text=text, shortened=draft.shortened + 1)
    return _preamble(mode, cut, count(text))


def _preamble(mode: str, draft: Draft, tokens: int) -> Preamble:
    return Preamble(
        mode,
        draft.text,
        tokens,
        CEILINGS[mode],
        draft.left_out,
        draft.shortened,
        draft.values_left_out,
    )


def build_fidelity_preamble(
    mode: str,
    pipeline: Pipeline,
    context: Mapping[str, Any],
    completed_nodes: Sequence[str],
    current_node: str,
    logs: Sequence[Mapping[str, Any]],
) -> str:
    """The preamble's text, Markdown, to put before the prompt of `current_node`.

    `logs` hold the stages that ran, oldest first, as `reviewer.pipelines.history.stage_of` reads
    them; a completed node without one is told by its name. Raises ReviewerError.
    """
    from reviewer.pipelines.history import history_from

    history = history_from(context, completed_nodes, logs)
    return build_preamble(mode, pipeline, history, current_node).text
