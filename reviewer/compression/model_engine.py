"""The engine that asks a model: prompt from a template, answers checked, retries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs

from reviewer.commits.values import Pattern
from reviewer.compression.answer_checks import (
    find_emptiness,
    find_fault,
    find_inventions,
)
from reviewer.compression.engine import EngineText, SummaryTask
from reviewer.compression.kept_answers import KeptAnswers
from reviewer.compression.model_answer import (
    cleaned,
    copies,
    is_program_text,
    trimmed,
    with_titles,
)
from reviewer.compression.model_view import LONGEST_VIEW, session_view
from reviewer.compression.retention import diagnosis, validate_retention
from reviewer.compression.values import HANDOVER_FROM, Level
from reviewer.llm.model import (
    CancelledError,
    ChatMessage,
    ChatModel,
    Completion,
    EmptyAnswerError,
    ModelError,
)
from reviewer.llm.steering import RetryExhaustedError, retry_with_steering
from reviewer.llm.templates import fence_for, load_template, render

TEMPLATES = Path(__file__).parent / "templates"
FIELDS = (
    "messages", "anchors", "segment_id", "topic", "max_tokens", "max_characters", "fence", "quoted",
)  # fmt: skip
"""The fields of a level template."""
TAG_CHARACTERS = 30
"""Of an anchor, in the prompt for tags."""
ROOM = 1.5
"""Cut-off, as a multiple of the requested length."""
LEAST_ROOM = 64
MARGIN = 64
"""Tokens of the model's context that are left free, because encodings differ."""
HANDOVER = "compression-handover"
HANDOVER_RATIO = 4
CHARACTERS = 3.6
"""Characters of a token, in a text with many names."""
THOUGHTS = 4_000
"""Tokens that a model may spend on thoughts before it writes a hand-over."""
LEAST_CONTEXT = 6_000
"""Tokens of a model's context in which a hand-over and what it is about have room."""


def template_of(task: SummaryTask, context_tokens: int) -> str:
    """The id of the template: that of the level, or of a hand-over where there is room for one."""
    if task.options.custom_prompt_template_id:
        return task.options.custom_prompt_template_id
    is_long = task.max_tokens >= HANDOVER_FROM and task.level is not Level.TAGS
    if (
        is_long
        and context_tokens >= LEAST_CONTEXT
        and task.max_tokens * HANDOVER_RATIO <= task.segment.tokens
    ):
        return HANDOVER
    return f"compression-{task.level.name.lower()}"


class ModelEngine:
    """Abstractive: one answer of the model for each level; retries name what has to be retained."""

    deterministic = False

    def __init__(
        self,
        model: ChatModel,
        count: Callable[[str], int],
        *,
        context_tokens: int,
        templates: Path | None = None,
        kept: KeptAnswers | None = None,
    ) -> None:
        """`context_tokens`: of prompt and answer together. `templates`: a folder whose templates
        replace the built-in ones of the same name. `kept`: answers of earlier runs.
        """
        self.model = model
        self._count = count
        self._context_tokens = context_tokens
        self._templates = templates
        self._kept = kept
        self.name = model.name

    def write(self, task: SummaryTask) -> EngineText:
        """The model's summary, checked for faults, retention and invention; that of an earlier run
        where the question is the same.

        Raises ModelError when the endpoint fails, CancelledError, TemplateError, and
        RetryExhaustedError when no attempt passes.
        """
        prompt, remark = self._prompt(task)
        room = self._room(task)
        key = self._key(task, prompt, room)
        answered, unread = self._answered(task, key, prompt)
        if answered is not None:
            return structs.replace(answered, note=remark)
        remark = "; ".join(filter(None, (remark, unread)))
        asked = _Attempts(self, task, prompt, room)
        result = retry_with_steering(asked.ask, asked.check, asked.steer, task.options.max_retries)
        text = result.value.text
        refused = find_inventions(task, text) or find_emptiness(task, text)
        if refused is not None:
            raise RetryExhaustedError(refused, result.attempts, result.value)
        if self._kept is not None:
            unkept = self._kept.keep(key, result.value)
            remark = "; ".join(filter(None, (remark, unkept)))
        return EngineText(
            self._finished(task, text),
            self.name,
            asked.tokens,
            result.attempts,
            note=remark,
        )

    def read(self, answer: Completion) -> Completion:
        """An answer without what the model wrapped around it, and with the tokens of the rest."""
        text = with_titles(cleaned(answer.text))
        if text == answer.text:
            return answer
        return structs.replace(answer, text=text, completion_tokens=self._count(text))

    def fault(
        self, task: SummaryTask, answer: Completion, prompt: Sequence[ChatMessage]
    ) -> str | None:
        """Why an answer cannot be used at all."""
        source = task.analysis.text
        instruction = prompt[0].content if len(prompt) > 1 else ""
        if kind := is_program_text(answer.text):
            return f"The answer is {kind} instead of a text."
        if copies(answer.text, instruction, source):
            return "The answer repeats its instruction instead of summarizing."
        if template_of(task, self._context_tokens) != HANDOVER:
            return find_fault(answer, source, task.segment.tokens, task.options.ceiling)
        # One that is too long is shortened.
        finish = "stop" if answer.finish == "length" and answer.text else answer.finish
        counted = structs.replace(answer, finish=finish, completion_tokens=0)
        return find_fault(counted, source, task.segment.tokens, None)

    def _finished(self, task: SummaryTask, text: str) -> str:
        """The summary; a hand-over within its limit."""
        if template_of(task, self._context_tokens) != HANDOVER:
            return text
        return trimmed(text, task.max_tokens, self._count)

    def _key(self, task: SummaryTask, prompt: Sequence[ChatMessage], room: int) -> str:
        """The key of a question among the kept answers."""
        if self._kept is None:
            return ""
        options = task.options
        return self._kept.key(prompt, self.name, room, options.temperature, options.ceiling)

    def _answered(
        self, task: SummaryTask, key: str, prompt: Sequence[ChatMessage]
    ) -> tuple[EngineText | None, str]:
        """The answer of an earlier run, if it passes the checks; and a remark for a person."""
        if self._kept is None or task.options.fresh:
            return None, ""
        found, remark = self._kept.find(key)
        if found is None:
            return None, remark
        found = self.read(found)
        text = found.text
        failures = validate_retention(text, task.criteria)
        wrong = (
            self.fault(task, found, prompt)
            or (diagnosis(failures) if failures else None)
            or find_inventions(task, text)
        )
        if wrong is not None:
            return None, f"a kept answer was not used: {wrong}"
        if task.callbacks.on_text is not None:
            task.callbacks.on_text(text)
        return EngineText(self._finished(task, text), self.name, answered_before=True), ""

    def _prompt(self, task: SummaryTask) -> tuple[list[ChatMessage], str]:
        """The messages of the template, with as much of the segment as fits the model's context;
        and a remark for a person where words of the conversation did not fit.
        """
        template = load_template(
            template_of(task, self._context_tokens), TEMPLATES, self._templates, FIELDS
        )
        room = min(task.max_tokens, self._room(task))
        quoted = "\n".join(f'- [{a.type}]: "{a.content}"' for a in task.anchors)
        tags = "\n".join(f"- {a.type}: {a.content[:TAG_CHARACTERS]}" for a in task.anchors)
        data: dict[str, object] = {
            "anchors": tags if task.level is Level.TAGS else quoted,
            "quoted": quoted,
            "segment_id": task.segment.id,
            "topic": task.segment.topic or "all",
            "max_tokens": room,
            "max_characters": round(room * CHARACTERS / 100) * 100,
        }

        def messages(text: str) -> list[ChatMessage]:
            fence = fence_for("conversation", text)
            return _with_retention(
                render(template, {**data, "messages": text, "fence": fence}), task
            )

        frame = sum(self._count(one.content) for one in messages(""))
        free = self._context_tokens - frame - 2 * self._room(task) - MARGIN
        if free < LEAST_ROOM and task.level is not Level.TAGS and task.anchors:
            # They do not fit the context of a small model; they are put back after the answer.
            data["anchors"] = data["quoted"] = ""
            frame = sum(self._count(one.content) for one in messages(""))
            free = self._context_tokens - frame - 2 * self._room(task) - MARGIN
        if free < LEAST_ROOM:
            raise ModelError(
                f"The model's context of {self._context_tokens:,} tokens is too small for the "
                f"prompt of {template.template_id}. Raise context_tokens under [model], or use the "
                "offline engine."
            )
        view = session_view(task.analysis, free, self._count)
        remark = ""
        if view.left_out:
            remark = (
                f"{view.left_out:,} characters of what was said were left out, so that the model "
                f"reads at most {min(free, LONGEST_VIEW):,} tokens"
            )
        return messages(view.text), remark

    def _room(self, task: SummaryTask) -> int:
        """Tokens after which the answer is cut off."""
        if template_of(task, self._context_tokens) == HANDOVER:
            # One that is too long is shortened, and some models count their thoughts.
            wanted = round(task.max_tokens * ROOM) + THOUGHTS
            return max(1, min(wanted, self._context_tokens // 4))
        if task.options.max_output_tokens is not None:
            wanted = task.options.max_output_tokens
        else:
            wanted = max(round(task.max_tokens * ROOM), LEAST_ROOM)
        if task.options.ceiling is not None:
            wanted = min(wanted, task.options.ceiling)
        return max(1, min(wanted, self._context_tokens // 4))

    def shortened(self, text: str, tokens: int) -> str:
        """The beginning of a previous answer, about as long as the next one may be."""
        while self._count(text) > tokens + MARGIN:
            text = text[: len(text) * 2 // 3]
        return text


class _Attempts:
    """The attempts at one summary; each is told what was wrong with the one before."""

    def __init__(
        self, engine: ModelEngine, task: SummaryTask, prompt: list[ChatMessage], room: int
    ) -> None:
        """`room`: tokens after which an answer is cut off."""
        self._engine = engine
        self._task = task
        self._prompt = prompt
        self._question = prompt[-1].content
        self._room = room
        self._revised: list[ChatMessage] = []
        """The answer that is to be revised, and what to change in it."""
        self._count = 0
        self.tokens = 0
        """Of prompts and answers together."""

    def ask(self) -> Completion:
        """The next answer. Raises CancelledError, and ModelError when there is none to use."""
        task = self._task
        if task.callbacks.cancelled is not None and task.callbacks.cancelled():
            raise CancelledError("Stopped before the model was asked.")
        self._count += 1
        if task.callbacks.on_attempt is not None:
            task.callbacks.on_attempt(self._count)
        try:
            answer = self._engine.model.complete(
                [*self._prompt, *self._revised],
                max_tokens=self._room,
                temperature=task.options.temperature,
                cancelled=task.callbacks.cancelled,
                on_text=task.callbacks.on_text,
            )
        except EmptyAnswerError:
            answer = Completion("", self._engine.name, 0, 0)
        self.tokens += answer.prompt_tokens + answer.completion_tokens
        return self._engine.read(answer)

    def check(self, answer: Completion) -> tuple[bool, str | None]:
        """Whether an answer passes, and else what is wrong with it."""
        task, engine = self._task, self._engine
        problem = engine.fault(task, answer, self._prompt)
        if problem is not None:
            self._revised = []  # a faulty answer is not worth revising
            return False, problem
        failures = validate_retention(answer.text, task.criteria)
        if not failures:
            return True, None
        self._revised = [ChatMessage("assistant", engine.shortened(answer.text, self._room))]
        return False, diagnosis(failures)

    def steer(self, problem: str) -> None:
        """Tell the next attempt what was wrong."""
        if self._revised:
            self._revised.append(ChatMessage("user", steering(problem)))
        else:
            self._prompt[-1] = ChatMessage("user", f"{self._question}\n\n{steering(problem)}")


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
    retention_instructions: Sequence[str] = (),
    patterns: Sequence[Pattern] = (),
    care: bool = False,
) -> str:
    """The prompt with its IMPORTANT section for `retention_instructions` and `patterns`.

    `care` adds the line for content that is important without criteria.
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
    return "\n\n".join(parts)


def steering(diagnosis: str) -> str:
    """The message after a summary that failed, for the next attempt."""
    return (
        f"Previous summary failed validation: {diagnosis}\n"
        "Revise to include the missing details while keeping the summary concise."
    )
