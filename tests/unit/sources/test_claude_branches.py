"""Branches of Claude Code sessions: turns that the user rewound, and turns that only look so."""

from __future__ import annotations

from pathlib import Path

import pytest

from .builders import Session, uses

Step = tuple[str, str] | tuple[str, str, int | str | None]
"""Who, what, and after which step, where that is not the one before; None begins a conversation."""

LEFT: dict[str, tuple[list[Step], set[str]]] = {
    "a prompt replaced by a later one, with its replies": (
        [("user", "Set up."), ("reply", "Done."), ("user", "Use MySQL."), ("reply", "MySQL it is."),
         ("progress", "", 1), ("user", "Use Postgres."), ("reply", "Postgres it is.")],
        {"Use MySQL.", "MySQL it is."},
    ),
    "one place gone back to again and again": (
        [("reply", "Ready."), ("user", "Red."), ("reply", "It is red."), ("user", "Blue.", 0),
         ("reply", "It is blue."), ("user", "Green.", 0), ("reply", "It is green.")],
        {"Red.", "It is red.", "Blue.", "It is blue."},
    ),
    "a later branch that a command of the client begins": (
        [("reply", "Ready."), ("user", "Use MySQL."),
         ("user", "<command-name>/model</command-name>", 0), ("user", "Use Postgres."),
         ("reply", "Postgres it is.")],
        {"Use MySQL."},
    ),
    "nothing by parallel calls": (
        [("user", "Fix both files."), ("tool", ""), ("tool", ""), ("result", "one", 1),
         ("reply", "Reading one."), ("result", "two", 2), ("reply", "Both fixed."),
         ("user", "Thanks.")],
        set(),
    ),
    "nothing by text typed during a call": (
        [("user", "Fix it."), ("tool", ""), ("tool", ""), ("user", "leave the tests alone", 1),
         ("result", "done", 2), ("reply", "Done."), ("user", "Next.")],
        set(),
    ),
    "nothing by a prompt later than the path that went on": (
        [("user", "Write two poems."), ("user", "And publish them."),
         ("user", "are they still being written?", 0), ("reply", "Published.", 1)],
        set(),
    ),
    "nothing by a resume": (
        [("user", "First task."), ("reply", "Done."), ("user", "Second task.", None),
         ("user", "Third task.", "unknown-parent")],
        set(),
    ),
    "nothing by a record that names itself as its parent": ([("user", "Hello.", "s1-0")], set()),
}  # fmt: skip
"""What a person left by going back, in sessions of these steps."""


@pytest.mark.parametrize("what", LEFT)
def test_what_a_person_left_by_going_back_is_rewound(tmp_path: Path, what: str) -> None:
    session = Session()
    ids: list[str] = []
    steps, left = LEFT[what]
    for kind, text, *rest in steps:
        (after,) = rest or ("",)
        more = {"after": ids[after] if isinstance(after, int) else after}
        if kind == "progress":
            ids.append(session.add("progress", data={}, **more))
        elif kind == "tool":
            ids.append(session.tool("m1"))
        else:
            ids.append(getattr(session, kind)(text, **more))
    found = uses(session.read(tmp_path))
    assert {text for text, use in found if use == "rewound"} == left
    assert {use for _, use in found} <= {"said", "rewound", "wrapper"}


class TestCompactions:
    """Claude Code 2.1.217 and later: the first message after a compaction goes on from the last
    message that the compaction kept, so the boundary and the summary are on a side branch.
    """

    @pytest.mark.parametrize("later", [True, False])
    def test_nothing_around_a_compaction_is_rewound(self, tmp_path: Path, later: bool) -> None:
        session = Session()
        session.user("Set up the project.")
        tail = session.reply("It is set up.")
        if later:  # said while the compaction began, so not among what it kept
            session.user("Use MySQL.")
        summary = f"{session.name}-{session.count + 1}"
        boundary = session.add(
            "system",
            subtype="compact_boundary",
            after=None,
            logicalParentUuid=session.last,
            compactMetadata={
                "preservedSegment": {"headUuid": tail, "anchorUuid": summary, "tailUuid": tail}
            },
        )
        session.user("This session is being continued ...", after=boundary, isCompactSummary=True)
        session.user("Now the tests.", after=tail)
        session.reply("Tests are written.")
        session.user("Thanks.")
        assert uses(session.read(tmp_path)) == [
            ("Set up the project.", "said"),
            ("It is set up.", "said"),
            *([("Use MySQL.", "said")] if later else []),
            ("This session is being continued ...", "compaction summary"),
            ("Now the tests.", "said"),
            ("Tests are written.", "said"),
            ("Thanks.", "said"),
        ]

    def test_a_prompt_rewound_before_a_compaction_stays_rewound(self, tmp_path: Path) -> None:
        session = Session()
        fork = session.reply("Ready.")
        session.user("Use MySQL.")
        session.user("Use Postgres.", after=fork)
        tail = session.reply("Postgres it is.")
        session.add(
            "system",
            subtype="compact_boundary",
            after=None,
            logicalParentUuid=tail,
            compactMetadata={"preservedSegment": {"anchorUuid": "s1-5", "tailUuid": tail}},
        )
        session.user("This session is being continued ...", isCompactSummary=True)
        session.user("Thanks.", after=tail)
        said = dict(uses(session.read(tmp_path)))
        assert (said["Use MySQL."], said["Use Postgres."]) == ("rewound", "said")
