"""What a hand-over says comes next: open tasks, orders not carried out, and what still runs."""

from __future__ import annotations

import pytest

from reviewer.compression.anchor_types import Section
from reviewer.compression.handover import brief_of
from reviewer.compression.values import Turn
from tests.unit.compression.making import turn
from tests.unit.compression.test_shape import agent, call, edit, result, run, section, written


def handed_over(turns: list[Turn], tokens: int = 2_000) -> str:
    return str(brief_of(turns, "the session ferry", max_tokens=tokens).text)


def part(text: str, name: Section) -> str:
    return text.partition(f"## {name.value}\n")[2].partition("\n## ")[0]


TASKS = "# Tasks\\n\\n- [ ] T1 Paint the hull\\n- [ ] T2 Grease the rudder\\n- [ ] T3 Hang the lamp"


def test_open_tasks_of_a_file_come_next() -> None:
    written_once = f"cat <<'EOF' > docs/tasks.md\n{TASKS}\nEOF".replace("\\n", "\n")
    ticked = {"old_string": "- [ ] T1 Paint the hull", "new_string": "- [x] T1 Paint the hull"}
    turns = [
        turn("Work through the tasks for the ferry."),
        *run(written_once, ""),
        agent("The hull comes first."),
        *edit("hull.py"),
        call("Edit", {"file_path": "docs/tasks.md", **ticked}),
        result("Edit", "updated"),
    ]
    next_ = section(written(turns, 800), Section.NEXT)
    assert "Open in tasks.md (1 of 3 done): T2 Grease the rudder; T3 Hang the lamp" in next_
    assert "T1" not in next_


def test_text_that_a_command_appends_is_described_like_an_edit() -> None:
    turns = [
        turn("Write the handbook of the ferry."),
        agent("The handbook begins with the rules of the quay."),
        *run("cat > handbook.md <<'EOF'\n## Rules of the quay\n\nBicycles wait outside.\nEOF", ""),
        *run("cat >> handbook.md <<'EOF'\n## Fares\n\nDogs travel free.\nEOF", ""),
    ]
    now = section(written(turns, 600), Section.NOW)
    assert "Edited, not committed: handbook.md (new, 2 edits)" in now
    assert 'section "Rules of the quay": Bicycles wait' in now
    assert 'section "Fares": Dogs travel free' in now


def test_an_order_to_commit_that_is_not_carried_out_comes_next() -> None:
    turns = [
        turn("Make the lamp of the pier brighter."),
        *edit("pier/lamp.py"),
        *run("pytest tests/test_lamp.py -k bright", "1 passed"),
        agent("The lamp is brighter now."),
        turn("commit and push"),
        *run("git status", "modified: pier/lamp.py"),
    ]
    assert "Still owed (not run yet): commit, then push" in section(
        written(turns, 600), Section.NEXT
    )
    done = [
        *turns,
        *run("git commit -am 'Brighter lamp' && git push", "[main 1a2b3c4] Brighter lamp"),
        agent("Committed and pushed."),
    ]
    assert "Still owed" not in written(done, 600)


def test_answers_to_numbered_questions_are_no_open_items() -> None:
    turns = [
        turn("Help me to plan the ferry's summer."),
        agent("1. **Boats** - how many sail?\n2. **Crew** - who comes?\n3. **Fares** - how much?"),
        turn("1. Boats: two boats\n2. Crew: Ann and Bob\n3. Fares: four coins, dogs free"),
        agent("Two boats with Ann and Bob, four coins each."),
        *edit("plan.md", "## Summer\n\nTwo boats."),
    ]
    assert "Open items" not in written(turns, 600)


@pytest.mark.parametrize(
    "announced",
    [
        "Je vais d'abord corriger la lampe du quai, puis la cloche.",
        "Ich werde zuerst die Lampe am Kai reparieren, dann die Glocke.",
        "我将先修复码头的灯，然后修复钟。",
    ],
)
def test_an_announcement_in_another_language_comes_next(announced: str) -> None:
    turns = [turn("Repair the pier."), *edit("pier.py"), turn("Now the lamp."), agent(announced)]
    text = handed_over(turns)
    assert announced.rstrip(".") in part(text, Section.NEXT)
    assert "waits for the person's next words" not in text


def test_a_remark_between_calls_is_no_report() -> None:
    turns = [turn("Watch the crew of the ferry.")]
    for place in ("bow", "stern", "bridge", "galley", "hold"):
        turns += [agent(f"The crew at the {place} is busy."), *run(f"crew show {place}", "busy")]
    waiting = [*turns, agent("The crew at the mast is busy.")]
    assert "waits for the person's next words" not in handed_over(waiting)
    report = "Everybody is at work:\n\n- bow: ropes\n- stern: paint\n- galley: soup\n- hold: fish"
    assert "waits for the person's next words" in handed_over([*turns, agent(report)])


def test_sub_agents_without_a_report_are_named() -> None:
    started = "Async agent launched successfully.\nagentId: a1b2c3 (internal)"
    turns = [
        turn("Find out what the ferry costs."),
        call("Agent", {"description": "Count the boats", "prompt": "Count."}, "c1"),
        result("Agent", started, "c1"),
        agent("While it counts, I look at the fares."),
        *run("cat fares.txt", "4 coins"),
    ]
    last = part(handed_over(turns), Section.STEPS).strip().split("\n")[-1]
    assert 'no report was seen of the sub-agents "Count the boats"' in last
    answer = (
        "<task-notification><task-id>a1b2c3</task-id><status>completed</status></task-notification>"
    )
    assert "no report was seen" not in handed_over([*turns, turn(answer)])


def test_a_long_request_keeps_its_end() -> None:
    rules = " ".join(f"Rule {number} is about the rope number {number}." for number in range(150))
    turns = [turn(f"Write the rules of the ferry. {rules} Print them on green paper.")]
    request = part(handed_over([*turns, *edit("rules.py")], 1_500), Section.REQUEST)
    assert "Write the rules of the ferry." in request
    assert "Print them on green paper." in request
    assert "[…]" in request


SUMMARY = """This session is being continued from a previous conversation.

1. **Primary Request and Intent:**
   - Paint the ferry in the blue of the harbour.

2. **Problem Solving:**
   - The blue paint needs a day to dry, because the salt keeps it wet.

3. **Pending Tasks:**
   - Varnish the benches on the upper deck.
"""


def test_bold_titles_of_an_earlier_summary_are_read() -> None:
    turns = [turn(SUMMARY), turn("Now the rudder."), *edit("rudder.py")]
    text = written(turns, 600)
    assert "Before the earlier compaction: Paint the ferry" in section(text, Section.REQUEST)
    assert "Pending at the earlier compaction: Varnish the benches" in section(text, Section.NEXT)
    assert "needs a day to dry" in section(text, Section.FOUND)


def test_a_summary_repeats_no_request_that_the_range_has() -> None:
    turns = [turn("Paint the ferry blue, please."), *edit("hull.py"), turn(SUMMARY)]
    text = written([*turns, turn("Now the rudder."), *edit("rudder.py")], 600)
    assert "Before the earlier compaction" not in text
    assert "Paint the ferry blue, please." in text


@pytest.mark.parametrize(
    ("words", "owed"),
    [
        ("pelase push directly to main", "commit, then push, then report"),
        ("commit this, push, open draft PR", "commit, then push, then open the pull request"),
        ("the push failed because of the tide", ""),
        ("/pr-review 150", ""),
        ("Describe in the handbook how often we commit and how the harbour reviews it. " * 4, ""),
    ],
)
def test_what_a_short_message_orders_is_owed(words: str, owed: str) -> None:
    turns = [
        turn("Make the lamp of the pier brighter."),
        *edit("pier/lamp.md"),
        agent("The lamp is brighter now."),
        turn(words),
        *run("git status", "modified: pier/lamp.md"),
    ]
    next_ = section(written(turns, 800), Section.NEXT)
    assert owed in next_
    assert owed or "Still owed" not in next_


def test_one_merge_conflict_that_is_edited_is_not_called_pushed() -> None:
    turns = [
        turn("Merge the main branch."),
        *edit("toll.py"),
        *run("git commit -am 'Toll' && git push", "[pier 1a2b3c4] Toll"),
        *run("git merge main", "CONFLICT (content): Merge conflict in toll.py"),
        *run("git checkout --theirs toll.py", "Updated 1 path"),
        *run("go build ./...", ""),
    ]
    now = section(written(turns, 600), Section.NOW)
    assert "The merge conflict is edited (toll.py); the merge is not committed." in now
    assert "committed and pushed" not in now


def test_a_failure_that_a_similar_check_has_overtaken_is_not_told() -> None:
    turns = [
        turn("Mend the bill."),
        *edit("e2e/bill.go"),
        *run("go build ./e2e/...", "e2e/bill.go:4:2: undefined: toll\nexit status 1"),
        *run("go test -c ./e2e/... -o /dev/null", ""),
    ]
    text = written(turns, 600)
    assert "Failing" not in text
    assert "go build" not in section(text, Section.COMMANDS)


def test_items_that_were_written_or_made_elsewhere_are_not_open() -> None:
    turns = [
        turn("Deliver:\n\n1. A plan of the pier under `docs/plans/`\n2. A tracking bead via `bd`"),
        agent("Let me look for older plans."),
        *run("ls docs", "plans"),
        agent("Now the plan itself."),
        call("Write", {"file_path": "docs/plans/pier.md", "content": "# Pier\n\nTwo lamps."}),
        result("Write", "created"),
        agent("Now let me create the tracking bead."),
        *run('bd create "Pier"', "✓ Created issue: sea-pier — Pier"),
    ]
    text = written(turns, 800)
    assert "Open items" not in text
    assert "edited in docs/plans/pier.md" in text


def test_what_the_person_wants_instead_of_a_refused_call_is_the_latest_request() -> None:
    refusal = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell "
        "you how to proceed, the user said:\nput the lamp on the eastern pier in its own branch"
    )
    given = {"file_path": "pier/west.py", "old_string": "a", "new_string": "b"}
    turns = [
        turn("Make the lamp of the western pier brighter."),
        *edit("lamp.py"),
        agent("Now the pier."),
        call("Edit", given),
        result("Edit", refusal),
        *edit("pier/east.py"),
    ]
    request = part(handed_over(turns), Section.REQUEST)
    assert 'Latest, refusing Edit: pier/west.py: "put the lamp on the eastern pier' in request
    assert 'First: "Make the lamp of the western pier brighter."' in request
