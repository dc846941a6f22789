"""The engine that asks a model: prompt from a template, faults and retention checked, retries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs

from reviewer.commits.values import Pattern
from reviewer.compression.engine import EngineText, SummaryTask
from reviewer.compression.retention import diagnosis, validate_retention
from reviewer.compression.segments import full_text
from reviewer.compression.values import Level, Turn
from reviewer.llm.model import CancelledError, ChatMessage, ChatModel, Completion, ModelError
from reviewer.llm.steering import retry_with_steering
from reviewer.llm.templates import load_template, render

LOOP_WORDS = 6
"""Words in a row whose repetition indicates a loop."""
LOOP_TIMES = 4
LOOP_SHARE = 0.3
"""Share of an answer that consists of repetitions."""
_REFUSAL = re.compile(
    r"\W{0,4}(?:i'?m sorry|i am sorry|sorry,|i apologi[sz]e|i (?:can(?:no|')t|am (?:not able"
    r"|unable)|won't)"
    r"|as an ai|i'm (?:not able|unable)|unfortunately,? i (?:can|am))",
    re.IGNORECASE,
)
LONGEST_REFUSAL = 600
"""Characters up to which an answer that begins like a refusal counts as one."""
_WORD = re.compile(r"\w+")


def find_fault(
    answer: Completion, source: str, source_tokens: int, max_tokens: int | None
) -> str | None:
    """Why an answer cannot be used as a summary, as a sentence for the model and for a person.

    `source_tokens`: tokens of the source, which it must not exceed. `max_tokens`: its hard ceiling.
    """
    text = answer.text.strip()
    if not text:
        return "The summary is empty."
    if answer.finish == "filtered" or (
        len(text) <= LONGEST_REFUSAL and _REFUSAL.match(text) and not _REFUSAL.match(source)
    ):
        return "The model refused instead of summarizing."
    if loops(text, source):
        return "The summary repeats itself over and over."
    if answer.finish == "length":
        return f"The summary was cut off at {answer.completion_tokens} tokens; it must be shorter."
    if max_tokens is not None and answer.completion_tokens > max_tokens:
        return (
            f"The summary has {answer.completion_tokens} tokens; at most {max_tokens} are allowed."
        )
    if answer.completion_tokens > max(source_tokens, 32):
        return (
            f"The summary has {answer.completion_tokens} tokens, more than the {source_tokens} "
            "that it summarizes."
        )
    return None


def loops(text: str, source: str) -> bool:
    """Whether a text repeats the same words over and over, and its source does not."""
    words = _WORD.findall(text.lower())
    runs = Counter(tuple(words[at : at + LOOP_WORDS]) for at in range(len(words) - LOOP_WORDS + 1))
    if not runs:
        return False
    run, times = runs.most_common(1)[0]
    if times < LOOP_TIMES or times * LOOP_WORDS < LOOP_SHARE * len(words):
        return False
    return " ".join(_WORD.findall(source.lower())).count(" ".join(run)) < times


TEMPLATES = Path(__file__).parent / "templates"
FIELDS: dict[str, Sequence[str]] = {
    "messages": (),
    "anchors": ("type", "content"),
    "segment_id": (),
    "topic": (),
    "max_tokens": (),
}
"""The fields of a level template."""
ROOM = 1.5
"""Cut-off, as a multiple of the requested length."""
LEAST_ROOM = 64
MARGIN = 64
"""Tokens of the model's context that are left free, because encodings differ."""


class ModelEngine:
    """Abstractive: one answer of the model for each level; retries name the missing details."""

    deterministic = False

    def __init__(
        self,
        model: ChatModel,
        count: Callable[[str], int],
        *,
        context_tokens: int,
        templates: Path | None = None,
    ) -> None:
        """`context_tokens`: of prompt and answer together. `templates`: a folder whose templates
        replace the built-in ones of the same name.
        """
        self._model = model
        self._count = count
        self._context_tokens = context_tokens
        self._templates = templates
        self.name = model.name

    def write(self, task: SummaryTask) -> EngineText:
        """The model's summary, checked for faults and retention.

        Raises ModelError when the endpoint fails, CancelledError, TemplateError, and
        RetryExhaustedError when no attempt passes.
        """
        prompt = self._prompt(task)
        asked_first = prompt[-1]
        room = self._room(task)
        source = task.analysis.text
        notes: list[ChatMessage] = []
        last = ""
        used = attempts = 0

        def attempt() -> Completion:
            nonlocal last, used, attempts
            if task.cancelled is not None and task.cancelled():
                raise CancelledError("Stopped before the model was asked.")
            attempts += 1
            if task.on_attempt is not None:
                task.on_attempt(attempts)
            answer = self._model.complete(
                [*prompt, *notes],
                max_tokens=room,
                temperature=task.options.temperature,
                cancelled=task.cancelled,
                on_text=task.on_text,
            )
            used += answer.prompt_tokens + answer.completion_tokens
            last = answer.text
            return answer

        def validate(answer: Completion) -> tuple[bool, str | None]:
            problem = find_fault(answer, source, task.segment.tokens, task.options.ceiling)
            if problem is not None:
                notes[:] = []  # a faulty answer is not worth revising
            elif failures := validate_retention(answer.text, task.criteria):
                problem = diagnosis(failures)
                notes[:] = [ChatMessage("assistant", self._cut(last, room))]
            return problem is None, problem

        def steer(problem: str) -> None:
            if notes:
                notes.append(ChatMessage("user", steering(problem)))
            else:
                prompt[-1] = ChatMessage("user", f"{asked_first.content}\n\n{steering(problem)}")

        result = retry_with_steering(attempt, validate, steer, task.options.max_retries)
        return EngineText(result.value.text.strip(), self.name, used, result.attempts)

    def _prompt(self, task: SummaryTask) -> list[ChatMessage]:
        """The level's messages, with as much of the segment as fits the model's context."""
        custom = task.options.custom_prompt_template_id
        template = load_template(
            custom or f"compression-{task.level.name.lower()}", TEMPLATES, self._templates, FIELDS
        )
        data = {
            "anchors": [{"type": str(a.type), "content": a.content} for a in task.anchors],
            "segment_id": task.segment.id,
            "topic": task.segment.topic or "all",
            "max_tokens": task.max_tokens,
        }

        def messages(text: str) -> list[ChatMessage]:
            return _with_retention(render(template, {**data, "messages": text}), task)

        frame = sum(self._count(one.content) for one in messages(""))
        free = self._context_tokens - frame - 2 * self._room(task) - MARGIN
        if free < LEAST_ROOM and task.level is not Level.TAGS and task.anchors:
            # They do not fit the context of a small model; they are put back after the answer.
            data["anchors"] = []
            frame = sum(self._count(one.content) for one in messages(""))
            free = self._context_tokens - frame - 2 * self._room(task) - MARGIN
        if free < LEAST_ROOM:
            raise ModelError(
                f"The model's context of {self._context_tokens:,} tokens is too small for the "
                f"prompt of {template.template_id}. Raise context_tokens under [model], or use the "
                "offline engine."
            )
        return messages(cut_text(task.segment.turns, free, self._count))

    def _room(self, task: SummaryTask) -> int:
        """Tokens after which the answer is cut off."""
        if task.options.max_output_tokens is not None:
            wanted = task.options.max_output_tokens
        else:
            wanted = max(round(task.max_tokens * ROOM), LEAST_ROOM)
        if task.options.ceiling is not None:
            wanted = min(wanted, task.options.ceiling)
        return max(1, min(wanted, self._context_tokens // 4))

    def _cut(self, text: str, tokens: int) -> str:
        """The beginning of a previous answer, about as long as the next one may be."""
        while self._count(text) > tokens + MARGIN:
            text = text[: len(text) * 2 // 3]
        return text


def _with_retention(messages: list[ChatMessage], task: SummaryTask) -> list[ChatMessage]:
    """The messages with the retention criteria of the task in the prompt."""
    *before, prompt = messages
    criteria = [each.criteria for each in task.criteria]
    content = build_summarize_prompt(
        prompt.content,
        retention_instructions=tuple(
            dict.fromkeys(each.instructions for each in criteria if each.instructions)
        ),
        patterns=[pattern for each in criteria for pattern in each.patterns],
        care=task.care,
    )
    return [*before, ChatMessage("user", content)]


CARE = (
    "Some of what follows was marked as important. Be conservative with it: keep its statements, "
    "names and figures."
)
"""Added to the prompt for IMPORTANT turns without criteria."""


def build_summarize_prompt(
    user_prompt: str,
    *,
    instructions: str | None = None,
    retention_instructions: Sequence[str] = (),
    patterns: Sequence[Pattern] = (),
    care: bool = False,
) -> str:
    """The prompt with its IMPORTANT section for `retention_instructions` and `patterns`.

    `care` adds the line for content that is important without criteria; `instructions` come last.
    """
    parts = [user_prompt.rstrip()]
    details = [*retention_instructions]
    details += [
        f'the exact text "{each.text}"'
        if each.mode == "substring"
        else f"text that matches the regular expression {each.text}"
        for each in patterns
    ]
    if details:
        listed = "\n".join(f"- {detail}" for detail in details)
        parts.append(
            "IMPORTANT: The following content was marked as important. You MUST\n"
            f"preserve these specific details in your summary:\n{listed}"
        )
    if care:
        parts.append(CARE)
    if instructions:
        parts.append(instructions.strip())
    return "\n\n".join(parts)


def steering(diagnosis: str) -> str:
    """The message after a summary that failed, for the next attempt."""
    return (
        f"Previous summary failed validation: {diagnosis}\n"
        "Revise to include the missing details while keeping the summary concise."
    )


def cut_text(turns: Sequence[Turn], tokens: int, count: Callable[[str], int]) -> str:
    """The turns in at most `tokens`; the longest are shortened first, with a mark."""
    whole = full_text(turns)
    if count(whole) <= tokens:
        return whole
    low, high = 0, max((len(turn.text) for turn in turns), default=0)
    best = ""
    while low < high - 8:
        limit = (low + high) // 2
        text = full_text([_shortened(turn, limit) for turn in turns])
        if count(text) <= tokens:
            best, low = text, limit
        else:
            high = limit
    return best or _last_turns(turns, tokens, count)


def _shortened(turn: Turn, limit: int) -> Turn:
    """The beginning and the end of a long text, with a mark for the characters between."""
    missing = len(turn.text) - limit
    if missing <= 0:
        return turn
    head = turn.text[: limit * 2 // 3]
    tail = turn.text[len(turn.text) - limit // 3 :] if limit >= 3 else ""
    return structs.replace(turn, text=f"{head} [... {missing:,} characters left out ...] {tail}")


def _last_turns(turns: Sequence[Turn], tokens: int, count: Callable[[str], int]) -> str:
    """The newest turns that fit, shortened to a line each."""
    kept: list[Turn] = []
    used = 0
    for turn in reversed(turns):
        short = _shortened(turn, 80)
        used += count(full_text([short])) + 2
        if used > tokens:
            break
        kept.append(short)
    return full_text(reversed(kept))
