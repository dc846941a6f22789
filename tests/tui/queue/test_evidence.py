"""The candidate and evidence panes: what they say, where they scroll, what they repaint."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import structs
from textual.app import App, ComposeResult
from textual.geometry import Region

from reviewer.promotion.views import EvidenceView, Member, SourceState, Status
from reviewer.proposing.values import Proposer
from reviewer.tui.evidence.candidate_pane import CandidatePane, candidate_blocks, candidate_title
from reviewer.tui.evidence.detail import Detail
from reviewer.tui.evidence.evidence_pane import EvidencePane, evidence_blocks, origin_of
from reviewer.tui.kit.text import TextBlock, lay_out
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import DARK, GLYPHS, THEMES
from tests.tui.views import candidate, evidence, record

NOW = datetime(2026, 2, 14, 12, tzinfo=UTC)


class Panes(App[int]):
    """The two panes, one above the other."""

    CSS = "CandidatePane { height: 10; } EvidencePane { height: 8; }"
    glyphs = GLYPHS

    def __init__(self) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK
        self.candidate = CandidatePane()
        self.evidence = EvidencePane()

    def compose(self) -> ComposeResult:
        yield self.candidate
        yield self.evidence


def drawn(pane: TextPane) -> list[str]:
    """The rows of a pane as on the screen."""
    return [pane.render_line(y).text.rstrip() for y in range(pane.size.height)]


def pane_text(**given: Any) -> str:
    """What the candidate pane says below the content."""
    parts = {name: given.pop(name) for name in ("members", "wordings", "state") if name in given}
    blocks = candidate_blocks(Detail(candidate(**given), **parts), now=NOW, signs=GLYPHS)
    return "\n".join(line.text.rstrip() for line in lay_out(blocks, 100))


def shown_with(*all_of_it: EvidenceView) -> Detail:
    return Detail(candidate(), evidence=all_of_it)


# the candidate


def test_the_title_names_number_kind_and_confidence() -> None:
    assert candidate_title(candidate(), "", GLYPHS) == "#412  project · confidence .58"
    trap = candidate(need="trap")
    assert candidate_title(trap, "", GLYPHS) == "#412  trap · confidence .58"


def test_the_confidence_is_taken_apart() -> None:
    assert "confidence  .50 sentence × 1.10 path × 1.05 fresh = .58" in pane_text()
    assert ".70 heading × .90 path = .63" in pane_text(
        prior=0.7, signal=0.9, freshness=1.0, confidence=0.63
    )
    alone = pane_text(prior=0.7, signal=1.0, freshness=1.0, confidence=0.7)
    assert "confidence  .70 heading\n" in alone, "factors of one change nothing"


def test_what_a_reader_proposed_is_not_said_to_be_of_a_rule() -> None:
    assert "proposed by the reader" in pane_text(proposer=Proposer.MODEL, rule="model.desk")


def test_how_often_it_was_seen_and_how_long_it_waits() -> None:
    assert "3 times · 2 sessions · queued 4 days ago · by decision_made 0.1.0" in pane_text()
    assert "once · 1 session · queued 2 hours ago" in pane_text(
        seen=1, sessions=1, pending_since="2026-02-14T10:00:00.000Z"
    )
    assert "seen        3 sessions · 6 wasted calls" in pane_text(seen=3, sessions=3, cost=6)
    assert "90 times · 40 sessions of 3 people" in pane_text(seen=90, sessions=40, authors=3)
    assert "1 session of 1 person" in pane_text(sessions=1, authors=1)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"deferred": True}, "⏸ deferred"),
        (
            {"status": Status.ACTIVE, "decided_at": "2026-02-14T10:00:00.000Z"},
            "✓ promoted 2 hours ago",
        ),
        ({"status": Status.INVALID}, "✗ rejected"),
        ({"status": Status.SUPERSEDED, "superseded_by": 7}, "→ superseded by #7"),
        ({"flags": ("secret",)}, "! a secret in this text was masked"),
        ({"flags": ("injection",)}, "! reads like a command planted for an agent"),
        ({"flags": ("known",)}, "! a memory says the same"),
        ({"state": SourceState.CHANGED}, "! source changed since"),
        ({"state": SourceState.GONE}, "! source missing"),
        ({"source": None}, "written by hand: no source"),
        ({"wordings": [("2026-02-12T10:00:00.000Z", "Use MySQL")]}, 'before      "Use MySQL"'),
    ],
)
def test_other_properties_are_shown_in_words_with_a_sign(
    fields: dict[str, Any], words: str
) -> None:
    assert words not in pane_text()
    assert words in pane_text(**fields)


def test_what_is_decided_with_a_row_is_a_line_above_its_text() -> None:
    near = [
        Member(
            398 + n, f"Postgres 16 was chosen {'again ' * 30}", 0.5, 0.91, Status.CANDIDATE, None
        )
        for n in range(7)
    ]
    shown = pane_text(members=near).split("\n")
    assert shown[0].startswith(" 7 alike     right shows them: Postgres 16 was chosen again")
    assert shown[0].endswith("…")
    assert shown[1].startswith(" Use PostgreSQL 16 for the ledger")


def test_a_near_duplicate_is_shown_from_its_first_word_on_and_not_once_it_is_decided() -> None:
    near = [
        Member(1, "Use PostgreSQL 16 for the ledger, never 15.", 0.5, 0.9, Status.CANDIDATE, None),
        Member(2, "Use PostgreSQL 16 for everything.", 0.5, 0.8, Status.INVALID, None),
    ]
    shown = pane_text(members=near).split("\n")
    assert shown[0] == " 1 alike     right shows it: Use PostgreSQL 16 for the ledger, never 15."
    assert "everything" not in "".join(shown)


# the evidence


def named(*all_of_it: EvidenceView, **fields: Any) -> list[str]:
    """How the last evidence of a row is named."""
    detail = shown_with(*all_of_it)
    view = structs.replace(detail.view, **{"sessions": 1, **fields})
    return origin_of(all_of_it[-1], structs.replace(detail, view=view))


def test_an_evidence_is_named_by_its_date_its_session_and_its_line() -> None:
    assert named(evidence()) == ["2026-02-14", "session 7505c8", "line 446"]
    path = "/logs/kiosk-7.jsonl"
    assert named(evidence(session=path, path=path))[1] == "kiosk-7.jsonl"
    note = evidence(
        shape="section", role="note", session=None, at=None, path="/n/plan.md", line_start=9,
        line_end=12, text="a\nb\nc use it", span=(6, 12),
    )  # fmt: skip
    assert named(note) == ["plan.md", "line 12"]


def test_which_of_the_sessions_it_is_from_is_said() -> None:
    first, other = evidence(), evidence(session="e7eb742c")
    assert named(first, other, sessions=2)[1] == "session e7eb74, 2 of 2"
    assert named(first, other, first, sessions=2)[1] == "session 7505c8, 1 of 2"
    assert named(first, other, sessions=40)[1] == "session e7eb74, 2 of 2 here"
    behind = structs.replace(other, memory_id=7)
    assert named(first, behind)[2] == "#7", "the row behind that it is of"


def test_the_end_of_the_record_before_and_the_beginning_of_the_one_after_are_shown() -> None:
    long = "first " + "word " * 400 + "last"
    found = evidence(before=(record(id=4, text=long),), after=(record(id=6, text=long),))
    before, _, after = evidence_blocks(found, GLYPHS)
    assert before.text.startswith("… ")
    assert before.text.endswith("last")
    assert after.text.startswith("first")
    assert after.text.endswith(" …")


def test_a_note_is_under_its_headings_and_takes_the_whole_width() -> None:
    note = evidence(shape="section", role="note", headings=("Ledger", "Storage", "Locks"))
    rows = [line.text for line in lay_out(evidence_blocks(note, GLYPHS), 80)]
    assert rows[0] == "  Ledger · Storage"
    assert rows[1].startswith("▌ no - let's use")


# on the screen


async def test_the_span_is_in_sight_and_keys_scroll() -> None:
    app = Panes()
    async with app.run_test(size=(60, 20)) as pilot:
        text = "\n".join(f"row {n}" for n in range(200))
        start = text.index("row 150")
        app.evidence.show_evidence(shown_with(evidence(text=text, span=(start, start + 7))))
        assert any("row 150" in row for row in drawn(app.evidence))
        app.evidence.focus()
        for key, expected in (("g", "row 0"), ("j", "row 1"), ("k", "row 0"), ("G", "row 199")):
            await pilot.press(key)
            shown = drawn(app.evidence)
            assert expected in (shown[-1] if key == "G" else shown[0])
        first = drawn(app.evidence)[0][:-1].strip()
        await pilot.press("pageup")
        assert first in drawn(app.evidence)[-1]


async def test_what_does_not_fit_has_a_thumb_at_its_place() -> None:
    app = Panes()
    async with app.run_test(size=(40, 20)) as pilot:
        app.candidate.show([TextBlock("few rows")])
        assert not any(row.endswith("▐") for row in drawn(app.candidate))
        app.candidate.show([TextBlock("\n".join(["row"] * 90))])
        assert [row.endswith("▐") for row in drawn(app.candidate)] == [True, *[False] * 9]
        app.candidate.focus()
        await pilot.press("G")
        assert [row.endswith("▐") for row in drawn(app.candidate)] == [*[False] * 9, True]


async def test_only_changed_rows_are_painted_without_a_new_layout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = Panes()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = app.candidate
        pane.show([TextBlock("same"), TextBlock("old words"), TextBlock("same")], title="#1")
        await pilot.pause()
        asked: list[tuple[tuple[Region, ...], bool]] = []

        def refresh(*regions: Region, repaint: bool = True, layout: bool = False, **_: Any) -> None:
            asked.append((regions, layout))

        monkeypatch.setattr(pane, "refresh", refresh)
        pane.show([TextBlock("same"), TextBlock("new"), TextBlock("same")], title="#1")
        assert asked == [((Region(0, 1, 60, 1),), False)]
        asked.clear()
        pane.show([TextBlock("same"), TextBlock("new"), TextBlock("same")], title="#1")
        assert asked == []
