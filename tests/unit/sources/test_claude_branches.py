"""Branches of Claude Code sessions: turns that the user rewound, and turns that only look so."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.sources.records import RecordUse

from .builders import Session, uses


class TestBranches:
    """Which branches of the tree a person left."""

    def test_a_prompt_replaced_by_a_later_one_is_rewound_with_its_replies(
        self, tmp_path: Path
    ) -> None:
        session = Session()
        session.user("Set up the project.")
        fork = session.reply("It is set up.")
        session.user("Use MySQL.")
        session.reply("MySQL it is.")
        session.add("progress", data={}, after=fork)
        session.user("Use Postgres.")
        session.reply("Postgres it is.")
        assert uses(session.read(tmp_path)) == [
            ("Set up the project.", "said"),
            ("It is set up.", "said"),
            ("Use MySQL.", "rewound"),
            ("MySQL it is.", "rewound"),
            ("Use Postgres.", "said"),
            ("Postgres it is.", "said"),
        ]

    def test_parallel_tool_calls_are_not_a_rewind(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Fix both files.")
        first = session.tool("m1")
        second = session.tool("m1")
        session.result("one", after=first)
        session.reply("Reading one.", "m2")
        session.result("two", after=second)
        session.reply("Both fixed.", "m3")
        session.user("Thanks.")
        assert {record.use for record in session.read(tmp_path)} == {RecordUse.MESSAGE}

    def test_text_typed_during_a_tool_call_is_not_a_rewind(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Fix it.")
        call = session.tool("m1")
        other = session.tool("m1")
        session.user("leave the tests alone", after=call)
        session.result(after=other)
        session.reply("Done.")
        session.user("Next.")
        assert {record.use for record in session.read(tmp_path)} == {RecordUse.MESSAGE}

    def test_a_prompt_later_than_the_path_that_went_on_is_kept(self, tmp_path: Path) -> None:
        session = Session()
        fork = session.user("Write two poems.")
        kept = session.user("And publish them.")
        session.user("are they still being written?", after=fork)
        session.reply("Published.", after=kept)
        assert {record.use for record in session.read(tmp_path)} == {RecordUse.MESSAGE}

    def test_a_conversation_before_a_resume_is_kept(self, tmp_path: Path) -> None:
        session = Session()
        session.user("First task.")
        session.reply("Done.")
        session.user("Second task.", after=None)
        session.user("Third task.", after="unknown-parent")
        assert {record.use for record in session.read(tmp_path)} == {RecordUse.MESSAGE}

    def test_one_place_may_be_gone_back_to_again_and_again(self, tmp_path: Path) -> None:
        session = Session()
        fork = session.reply("Ready.")
        for name in ("red", "blue", "green"):
            session.user(f"Paint it {name}.", after=fork)
            session.reply(f"It is {name}.")
        said = dict(uses(session.read(tmp_path)))
        assert [said[f"It is {name}."] for name in ("red", "blue", "green")] == [
            "rewound",
            "rewound",
            "said",
        ]

    def test_a_command_of_the_client_may_begin_the_later_branch(self, tmp_path: Path) -> None:
        session = Session()
        fork = session.reply("Ready.")
        session.user("Use MySQL.")
        session.user("<command-name>/model</command-name>", after=fork)
        session.user("Use Postgres.")
        session.reply("Postgres it is.")
        assert dict(uses(session.read(tmp_path)))["Use MySQL."] == "rewound"

    def test_a_record_that_names_itself_as_its_parent_is_read(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Hello.", after="s1-0")
        assert uses(session.read(tmp_path)) == [("Hello.", "said")]


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
