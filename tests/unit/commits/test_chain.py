"""A chain of commits: written by hand, edited by further commits, undone step by step."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from reviewer.commits.contents import HASHED, content_hash, hashed_row
from reviewer.commits.contexts import Contexts
from reviewer.commits.values import CommitQuery
from reviewer.engine import Engine
from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from tests.stored import planted
from tests.unit.commits.conftest import Chain, Say


def test_each_commit_vouches_for_the_one_before(contexts: Contexts, context: int, say: Say) -> None:
    first, second = contexts.commit(say("One.")), contexts.commit(say("Two.", "assistant"))
    assert (first.parent, second.parent) == (None, first.row.hash)
    told = {"role": "assistant", "type": "dialogue", "name": "", "at": second.at}
    row = hashed_row(first.row.hash, content_hash("Two."), "append", None, **told)
    assert second.row.hash == row["hash"]
    assert contexts.get(context).head == second.row.hash


def test_a_lone_surrogate_does_not_break_the_store(contexts: Contexts, say: Say) -> None:
    assert contexts.commit(say("half \ud83d a smile")).text == "half ? a smile"


def test_the_same_text_is_no_edit(engine: Engine, contexts: Contexts, say: Say) -> None:
    number = say("One.")
    acts = len(engine.history.acts(limit=10_000))
    assert contexts.edit(number, "One.").row.edited is False
    assert len(engine.history.acts(limit=10_000)) == acts


def test_undo_takes_an_edit_back_and_then_the_commit(
    engine: Engine, contexts: Contexts, context: int, say: Say
) -> None:
    number = say("One.")
    contexts.edit(number, "Two.")
    engine.history.undo()
    assert contexts.commit(number).text == "One."
    engine.history.undo()
    assert contexts.get(context).commits == 0
    engine.history.redo(), engine.history.redo()
    assert contexts.commit(number).text == "Two."


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"role": "robot", "text": "x"}, "no role"),
        ({"role": "user", "text": "x", "name": "a\nb"}, "printable"),
    ],
)
def test_a_commit_that_is_none_is_refused(
    contexts: Contexts, context: int, given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ReviewerError, match=sentence):
        contexts.add(context, **given)
    assert contexts.get(context).commits == 0


def test_a_context_is_found_by_name_number_or_beginning(contexts: Contexts, context: int) -> None:
    contexts.create("kiosk", "rollout")
    for words in ("pilot", "pil", f"#{context}", str(context), " pilot "):
        assert contexts.find(words).id == context
    with pytest.raises(UnknownIdError, match="Close matches: pilot"):
        contexts.find("pilott")
    contexts.create("other", "pilot")
    with pytest.raises(UnknownIdError, match=r"may be #\d+ pilot in \w+, #\d+ pilot in"):
        contexts.find("pilot")
    assert contexts.find("pilot", "other").project == "other"


def test_a_context_that_another_process_extends_while_one_looks(
    engine: Engine, contexts: Contexts, context: int, say: Say, chain: Chain
) -> None:
    seen = say("One.")
    snapshot, version = contexts.ids(CommitQuery(context)), contexts.changed(context)
    other = Engine.open(engine.path)
    other.contexts.add(context, role="user", text="From elsewhere.")
    other.contexts.edit(seen, "One, edited elsewhere.")
    assert contexts.changed(context) != version
    assert [row.first_line for row in contexts.rows(snapshot)] == ["One, edited elsewhere."]
    contexts.annotate(list(snapshot), priority="pinned")
    say("Mine.")
    assert [row.first_line for row in chain()] == [
        "One, edited elsewhere.", "From elsewhere.", "Mine.",
    ]  # fmt: skip
    other.close()


def test_a_text_that_others_use_stays_when_its_first_commit_is_undone(
    engine: Engine, contexts: Contexts, context: int, say: Say
) -> None:
    contexts.create("kiosk", "second")
    first = contexts.add(contexts.find("second").id, role="user", text="Shared.")
    act = engine.history.acts(limit=1)[0].id
    number = say("Shared.")
    engine.history.undo_act(act)
    assert contexts.commit(number).text == "Shared."
    assert contexts.rows([first.row.id]) == []
    engine.history.redo()
    assert contexts.commit(first.row.id).text == "Shared."


def test_a_commit_that_was_annotated_since_is_not_taken_away(
    engine: Engine, contexts: Contexts, context: int
) -> None:
    view = contexts.add(context, role="user", text="One.")
    act = engine.history.acts(limit=1)[0].id
    contexts.annotate(view.row.id, priority="pinned")
    with pytest.raises(ConflictError, match="annotation 1 refers to commit"):
        engine.history.undo_act(act)
    assert contexts.commit(view.row.id).row.priority == "pinned"


def test_what_a_compression_repeats_carries_annotations_and_edits(
    engine: Engine, contexts: Contexts, context: int, say: Say, chain: Chain
) -> None:
    """A summary takes the place of the first commit, and the second one is repeated behind it."""
    first, second = say("The long story."), say("The budget is 50.")
    contexts.annotate(second, priority="pinned")
    with planted(engine.path, "compress") as act:
        content = act.query("SELECT content_id FROM commit_ WHERE id = ?", (first,))[0][0]
        summary = act.insert(
            "commit_", context_id=context, parent_id=None, hash="a" * 64, operation="summary",
            position=0, role="assistant", type="summary", content_id=content,
        )  # fmt: skip
        ((again,),) = act.query("SELECT content_id FROM commit_ WHERE id = ?", (second,))
        repeated = act.insert(
            "commit_", context_id=context, parent_id=summary, hash="b" * 64, origin_id=second,
            position=1, role="user", type="dialogue", content_id=again,
        )  # fmt: skip
        act.update_many("commit_", [first, second], live=0)
        act.update("context", context, head_id=repeated)
    assert [row.id for row in chain()] == [summary, repeated]
    assert chain()[1].priority == "pinned"

    contexts.edit(repeated, "The budget is 60.")
    contexts.annotate(repeated, priority="important")
    assert contexts.commit(repeated).text == contexts.commit(second).text == "The budget is 60."
    assert contexts.commit(second).row.priority == "important"
    with pytest.raises(ConflictError, match="a summary replaced it"):
        contexts.edit(first, "Another story.")
    assert [m.text for m in contexts.compile(context)][1] == "The budget is 60."
    engine.history.undo(), engine.history.undo(), engine.history.undo()
    assert [row.id for row in chain()] == [first, second]
    assert chain()[1].priority == "pinned"


COMMIT: dict[str, Any] = {
    "parent": None, "role": "user", "type": "dialogue", "name": "", "content": "c" * 64,
    "operation": "append", "target": None, "at": "2026-03-01T12:00:00.000Z",
}  # fmt: skip


def hashed(commit: dict[str, Any]) -> object:
    row = {name: commit[name] for name in HASHED}
    parent, content, target = commit["parent"], commit["content"], commit["target"]
    return hashed_row(parent, content, commit["operation"], target, **row)["hash"]


def test_the_hash_is_sha256_of_the_canonical_json() -> None:
    spelled = json.dumps(COMMIT, sort_keys=True, separators=(",", ":")).encode()
    assert hashed(COMMIT) == hashlib.sha256(spelled).hexdigest()


@pytest.mark.parametrize("field", sorted(COMMIT))
def test_every_field_counts(field: str) -> None:
    assert hashed({**COMMIT, field: "other"}) != hashed(COMMIT)
