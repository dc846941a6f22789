"""Any sequence of acts on contexts equals a replay of the ledger, and nothing said is lost."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer.commits.values import CommitQuery
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from tests.clocks import TickingClock

WORDS = st.sampled_from(["Yes.", "The budget is $50k.", "é ✓", "ghp_[masked github-token]"])
CRITERIA = st.fixed_dictionaries(
    {},
    optional={
        "priority": st.sampled_from(["skip", "normal", "important", "pinned"]),
        "retain": st.sampled_from(["the money", ""]),
        "retain_match": st.lists(st.sampled_from(["$50k", "Yes", ""]), max_size=2),
        "retain_regex": st.lists(st.sampled_from([r"\d+", "(a"]), max_size=1),
        "clear": st.booleans(),
    },
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(["user", "system", "robot"]), WORDS),
        st.tuples(st.just("edit"), st.integers(0, 9), WORDS),
        st.tuples(st.just("annotate"), st.lists(st.integers(0, 9), max_size=4), CRITERIA),
        st.tuples(st.sampled_from(["undo", "redo"])),
        st.tuples(st.just("undo act"), st.integers(1, 20)),
    ),
    max_size=25,
)


def take(engine: Engine, context: int, step: tuple[Any, ...]) -> None:
    ids = engine.contexts.ids(CommitQuery(context))

    def pick(place: int) -> int:
        return ids[place % len(ids)] if ids else 99

    match step:
        case ("add", role, text):
            engine.contexts.add(context, role=role, text=text)
        case ("edit", place, text):
            engine.contexts.edit(pick(place), text)
        case ("annotate", places, criteria):
            engine.contexts.annotate([pick(each) for each in places], **criteria)
        case ("undo",):
            engine.history.undo()
        case ("redo",):
            engine.history.redo()
        case ("undo act", number):
            engine.history.undo_act(number)


@given(steps=STEPS)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_history_can_be_replayed_and_taken_back(steps: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine.open(Path(folder) / "store.db", clock=TickingClock())
        try:
            context = engine.contexts.create("kiosk", "pilot").id
            for step in steps:
                acts = len(engine.history.acts(limit=10_000))
                try:
                    take(engine, context, step)
                except ReviewerError:
                    assert len(engine.history.acts(limit=10_000)) == acts
            assert engine.history.verify().problems == ()
            for found in engine.contexts.all():
                views = [
                    engine.contexts.commit(n) for n in engine.contexts.ids(CommitQuery(context))
                ]
                assert [view.row.position for view in views] == list(range(len(views)))
                assert found.tokens == sum(view.row.tokens for view in views)
                kept = [view for view in views if view.row.priority != "skip"]
                compiled = engine.contexts.compile(context)
                assert [message.text for message in compiled] == [view.text for view in kept]
        finally:
            engine.close()
