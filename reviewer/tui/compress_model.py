"""The Compress screen as values: segments, the level of each, and what was previewed of them.

No widget and no store. Previews are kept for each segment, level and writer, so that going back and
forth costs nothing; what was not previewed yet is estimated, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from msgspec import structs

from reviewer.compressing import (
    BY_HAND,
    Choice,
    Level,
    Plan,
    Segment,
    SegmentPreview,
    carried,
    filled,
    one_segment,
    target_tokens,
)
from reviewer.tui.compress_segments import Segments

Writer = Literal["offline", "model", "by hand"]


class Key(NamedTuple):
    """What a preview is of."""

    segment: str
    level: Level
    writer: Writer


class Size(NamedTuple):
    """Tokens, and whether they were counted or are an estimate."""

    tokens: int
    exact: bool


Answered = tuple[tuple[int, ...], Level]
"""What a model's answer is about: commits, whatever their segment is called, and a level."""


def answered(choice: Choice) -> Answered:
    """What an answer for a choice is kept under."""
    return choice.sources, choice.level


class CompressModel(Segments):
    """The segments of one context, or of a range of it, with a cursor and a plan."""

    def __init__(self) -> None:
        super().__init__()
        self.plan: Plan | None = None
        self.engine: Literal["offline", "model"] = "offline"
        """What writes where nothing else was chosen."""
        self.sent = 0
        """Tokens of the whole context as it is."""
        self.target: int | None = None
        self.taken_offline: set[str] = set()
        """Segments that stay with the offline result while the model writes."""
        self.previews: dict[Key, SegmentPreview] = {}
        self.troubles: dict[Key, str] = {}
        """Why there is no preview, as a sentence."""
        self.answers: dict[Answered, tuple[str, str]] = {}
        """What a model wrote, and its name: weighed again where something was pinned meanwhile."""
        self.chosen: dict[tuple[int, ...], Choice] = {}
        """Every choice that was made, by the commits that it was made for."""

    def load(self, segments: Sequence[Segment], plan: Plan | None, sent: int) -> list[str]:
        """Take segments as they were read; previews stay of those that are as they were.

        What was chosen for the same commits holds again. Returns the segments that are not as
        they were, of those that were known.
        """
        before, here = self.segments, self.current
        self.show(segments)
        self.sent = sent
        changed = [each.id for each in before if self.segment(each.id) != each]
        self.forget(changed)
        self.plan = None if plan is None else carried(plan, self.chosen)
        first = here.turns[0].commit if here is not None and here.turns else None
        self.go_to_commit(first)
        self.taken_offline &= {each.id for each in self.segments}
        return changed

    def clear(self) -> None:
        """Another context: nothing of this one holds."""
        self.show(())
        self.plan, self.sent, self.cursor = None, 0, 0
        self.target = None
        self.taken_offline.clear()
        self.previews.clear()
        self.troubles.clear()

    def forget(self, segments: Iterable[str]) -> None:
        """Write the previews of some segments again."""
        gone = set(segments)
        for kept in (self.previews, self.troubles):
            for key in [key for key in kept if key.segment in gone]:
                del kept[key]

    def forget_all(self) -> None:
        """Write every preview again; what a model or a person wrote stays and is weighed again."""
        self.previews.clear()
        self.troubles.clear()

    @property
    def choice(self) -> Choice | None:
        """What is chosen for it."""
        if self.plan is None or self.cursor >= len(self.plan.choices):
            return None
        return self.plan.choices[self.cursor]

    # what is shown

    def writer(self, choice: Choice) -> Writer:
        """Who writes what is chosen."""
        if choice.engine == BY_HAND:
            return "by hand"
        model = self.engine == "model" and choice.segment not in self.taken_offline
        return "model" if model and choice.level is not Level.FULL else "offline"

    def key(self, choice: Choice) -> Key:
        """What a choice is kept under."""
        return Key(choice.segment, choice.level, self.writer(choice))

    def shown(self, choice: Choice) -> SegmentPreview | None:
        """The preview of a choice; the offline one where the model has not written yet."""
        key = self.key(choice)
        found = self.previews.get(key)
        if found is None and key.writer == "model":
            return self.previews.get(key._replace(writer="offline"))
        return found

    def at_level(self, choice: Choice, level: Level) -> Choice:
        """A choice as it would be at a level; a summary by hand belongs to its own level."""
        if level == choice.level:
            return choice
        return structs.replace(choice, level=level, content=None, engine="", append_missing=False)

    def waits(self, choice: Choice) -> bool:
        """Whether the model is still to write a choice."""
        return self.writer(choice) == "model" and answered(choice) not in self.answers

    def waiting(self) -> list[Choice]:
        """Everything that the model is still to write."""
        return [each for each in self.plan.choices if self.waits(each)] if self.plan else []

    def trouble(self, choice: Choice) -> str:
        """Why there is no preview of a choice; empty when there is one, or it is not there yet."""
        key = self.key(choice)
        return self.troubles.get(key) or self.troubles.get(key._replace(writer="offline"), "")

    def part(self, choice: Choice) -> tuple[Key, Plan]:
        """The plan of one choice alone that needs no model, and what its preview is kept under.

        What a model wrote is only weighed; where it has not written, the offline result stands in.
        """
        assert self.plan is not None
        key = self.key(choice)
        if key.writer == "model":
            answer = self.answers.get(answered(choice))
            if answer is None:
                key = key._replace(writer="offline")
            else:
                choice = structs.replace(choice, content=answer[0], engine=answer[1])
        return key, one_segment(structs.replace(self.plan, engine="offline"), choice)

    def asking(self, choice: Choice) -> Plan:
        """The plan of one choice alone for the model to write."""
        assert self.plan is not None
        plain = structs.replace(choice, content=None, engine="")
        return one_segment(structs.replace(self.plan, engine="model"), plain)

    # sizes

    def size(self, choice: Choice) -> Size:
        """The tokens that a segment will have in the context."""
        segment = self.segment(choice.segment)
        assert segment is not None  # choices are of the segments that are shown
        whole = segment.tokens
        if choice.level is Level.FULL:
            return Size(whole, exact=True)
        found = self.shown(choice)
        if found is None:
            return Size(target_tokens(whole, choice.level), exact=False)
        return Size(found.tokens, exact=not self.waits(choice))

    def whole(self) -> Size:
        """The tokens that the whole context will have."""
        if self.plan is None:
            return Size(self.sent, exact=True)
        sizes = [self.size(each) for each in self.plan.choices]
        saved = sum(each.tokens for each in self.segments) - sum(each.tokens for each in sizes)
        return Size(self.sent - saved, all(each.exact for each in sizes))

    # choosing

    def choose(self, segments: Iterable[str], level: Level) -> None:
        """Another level for some segments; a summary by hand of another level is left."""
        wanted = set(segments)
        assert self.plan is not None
        choices = tuple(
            structs.replace(each, level=level, content=None, engine="", append_missing=False)
            if each.segment in wanted and (each.level != level or each.engine == BY_HAND)
            else each
            for each in self.plan.choices
        )
        self.take(structs.replace(self.plan, choices=choices))

    def took_answer(self, choice: Choice, found: SegmentPreview) -> None:
        """What a model wrote for a choice."""
        self.answers[answered(choice)] = found.compressed.content, found.compressed.engine
        key = Key(choice.segment, choice.level, "model")
        self.previews[key] = found
        self.troubles.pop(key, None)

    def write(self, segment: str, content: str, found: SegmentPreview) -> None:
        """A summary by hand for a segment, and its preview."""
        assert self.plan is not None
        self.take(self.plan.with_text(segment, content))
        self.previews[Key(segment, found.level, "by hand")] = found

    def take(self, plan: Plan) -> None:
        """Another plan for the same segments."""
        self.plan = plan
        self.chosen.update((each.sources, each) for each in plan.choices)

    def to_apply(self) -> Plan:
        """The plan with all that was previewed in it. There has to be one."""
        assert self.plan is not None
        return filled(structs.replace(self.plan, engine=self.engine), self.shown)
