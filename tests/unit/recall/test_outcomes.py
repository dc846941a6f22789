"""The outcome of a use: whether the failure came back in the session that was handed the memory."""

from __future__ import annotations

import pytest

from reviewer.recall.outcomes import MemoryUse, SessionFailure, UseOutcome, outcome

AT = "2026-03-02T10:00:00.000Z"
SAME_CALL, EARLIER, LATER = (
    "2026-03-02T10:00:00.400Z", "2026-03-02T09:00:00Z", "2026-03-02T11:00:00Z",
)  # fmt: skip


def failed(signature: str, last: str, command: str = "") -> SessionFailure:
    return SessionFailure(signature, command, EARLIER, last)


@pytest.mark.parametrize(
    ("moment", "failures", "came"),
    [
        ("error", [failed("nilerr: x", SAME_CALL)], UseOutcome.HELD),
        ("error", [failed("nilerr: x", EARLIER)], UseOutcome.HELD),
        ("error", [failed("nilerr: x", LATER)], UseOutcome.BROKEN),
        ("error", [failed("other", LATER)], UseOutcome.UNKNOWN),
        ("error", [], UseOutcome.UNKNOWN),
        ("guard", [failed("other", LATER)], UseOutcome.UNKNOWN),
        ("guard", [failed("rejected", LATER, "git push")], UseOutcome.BROKEN),
        ("guard", [], UseOutcome.UNKNOWN),
        ("prompt", [failed("other", LATER)], UseOutcome.UNKNOWN),
        ("prompt", [failed("of memory", LATER)], UseOutcome.BROKEN),
        ("start", [failed("of memory", LATER)], UseOutcome.BROKEN),
        ("start", [failed("other", LATER)], UseOutcome.UNKNOWN),
    ],
)
def test_a_use_held_where_the_failure_did_not_come_back(
    moment: str, failures: list[SessionFailure], came: UseOutcome
) -> None:
    cue = frozenset({"guard": ("git push",), "error": ("nilerr: x", "nilerr")}.get(moment, ()))
    use = MemoryUse(1, "s", moment, cue, AT, frozenset(["of memory"]))
    assert outcome(use, failures) is came
