"""The engine that asks a model: prompt from a template, faults and retention checked, retries."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs

from reviewer.commits.values import Pattern
from reviewer.compression.anchor_types import Section
from reviewer.compression.engine import EngineText, SegmentAnalysis, SummaryTask
from reviewer.compression.fidelity import checkable_units
from reviewer.compression.kept_answers import KeptAnswers
from reviewer.compression.markers import without_markers
from reviewer.compression.model_answer import (
    TITLES,
    cleaned,
    copies,
    is_program_text,
    trimmed,
    with_line,
    with_titles,
)
from reviewer.compression.model_view import LONGEST, handover_view
from reviewer.compression.offline.events import Message
from reviewer.compression.offline.messages import told
from reviewer.compression.offline.needs import NAMED, NEED_OF, Need, carried
from reviewer.compression.offline.state import next_lines, now_lines
from reviewer.compression.retention import diagnosis, validate_retention
from reviewer.compression.segments import full_text
from reviewer.compression.values import HANDOVER_FROM, Level, Turn
from reviewer.compression.words import content_words
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
from reviewer.text.normalise import fold

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


SHORTEST_CHECKED = 240
"""Tokens from which on a summary is expected to have what somebody who goes on needs."""
MOST_INVENTED = 0.5
"""Share of names and numbers that the source does not have, above which a summary is refused."""
FEW = 3
"""Invented names up to which that share does not count, and a model is not asked again."""


def invented_by(task: SummaryTask, text: str) -> tuple[list[str], int]:
    """The names and numbers of a summary that its source does not have, and how many it names."""
    named = checkable_units(without_markers(text))
    told = fold("\n".join(line.text for line in task.analysis.account.lines))
    return task.analysis.terms.absent([u for u in named if fold(u) not in told]), len(named)


def invention(task: SummaryTask, text: str) -> str | None:
    """Why a summary is refused that invents most of what it names."""
    invented, named = invented_by(task, text)
    invented = [unit for unit in invented if len(unit) > 2]  # not the numbers of a list
    if len(invented) <= FEW or len(invented) <= MOST_INVENTED * named:
        return None
    return f"The summary names what the conversation does not have: {', '.join(invented[:6])}."


LEAST_SAID = 2
"""Words or names of the conversation that a summary of more than a few words has at least."""
FEW_WORDS = 8


def emptiness(task: SummaryTask, text: str) -> str | None:
    """Why a summary is refused that says nothing of the conversation, such as one that flatters.

    What the program adds to it afterwards does not count.
    """
    titles = {f"{section.value.lower()}:" for section in Section}
    lines = [line for line in text.split("\n") if line.strip().lower() not in titles]
    if text.strip() and not any(char.isalnum() for line in lines for char in line):
        return "The summary says nothing of the conversation."
    words = _stems("\n".join(lines))
    source = _stems("\n".join(turn.text for turn in task.segment.turns))
    invented, named = invented_by(task, text)
    said = len(words & source) + named - len(invented)
    if said >= LEAST_SAID or len(words) < FEW_WORDS:
        return None
    return "The summary says nothing of the conversation."


def _stems(text: str) -> set[str]:
    return {word[:6] for word in content_words(text)}


def find_gaps(task: SummaryTask, text: str) -> str | None:
    """What a summary invents and which needs it misses, as sentences for the model."""
    problems = []
    missing = _missing_needs(task, text)
    invented, _ = invented_by(task, text)
    if len(invented) > FEW or (invented and missing):
        problems.append(
            f"These do not stand in the conversation, so leave them out or correct them: "
            f"{', '.join(invented[:8])}."
        )
    for need, line in missing:
        problems.append(f"Nothing is said about {NAMED[need]}. The conversation says: {line}")
    return " ".join(problems) or None


def patched(task: SummaryTask, text: str) -> str:
    """The summary with one line for each need that it still misses, where there is room."""
    titles = {need: section for section, need in NEED_OF.items()}
    for need, line in _missing_needs(task, text):
        if TITLES & set(text.split("\n")):
            text = with_line(text, titles[need], line)
        else:
            text = f"{text}\n{titles[need].value}: {line}"
    return text


def _missing_needs(task: SummaryTask, text: str) -> list[tuple[Need, str]]:
    """The needs of which a summary says nothing, each with the line that says most about it."""
    if task.level is Level.TAGS or task.max_tokens < SHORTEST_CHECKED:
        return []
    account = task.analysis.account
    missing = carried(account, text, task.max_tokens).missing
    found = []
    for need in missing:
        lines = [line for line in account.lines if NEED_OF.get(line.section) == need]
        best = max(lines, key=lambda line: line.worth, default=None)
        if best is not None and best.cost < task.max_tokens * LONGEST_PATCH:
            found.append((need, best.text))
    return found


LONGEST_PATCH = 0.2
"""Share of a summary that the line of one missing need may have."""


def view_turns(analysis: SegmentAnalysis) -> Sequence[Turn]:
    """The segment as a model reads it: words in full, calls put into words, the state at the end.

    The output of tools is left out. A segment without tools is read as it is.
    """
    turns = analysis.segment.turns
    if all(turn.kind == "text" for turn in turns):
        return turns
    account = analysis.account
    view: list[Turn] = []
    for moment in account.moments:
        if isinstance(moment, Message):
            view.append(Turn(moment.name or str(moment.voice), moment.text, 0))
        elif done := told([moment]):
            view.append(Turn("event", done, 0))
    end = "\n".join([*now_lines(account.state), *next_lines(account.state)])
    if end:
        view.append(Turn("state at the end, computed from the calls", end, 0))
    return view or turns


TEMPLATES = Path(__file__).parent / "templates"
FIELDS: dict[str, Sequence[str]] = {
    "messages": (),
    "anchors": ("type", "content"),
    "segment_id": (),
    "topic": (),
    "max_tokens": (),
    "max_characters": (),
    "fence": (),
    "quoted": ("text",),
}
"""The fields of a level template."""
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
SLIGHTLY = 1.12
"""Times its limit that a hand-over is shortened without asking again."""


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
    """Abstractive: one answer of the model for each level; retries name the missing details."""

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
        self._model = model
        self._count = count
        self._context_tokens = context_tokens
        self._templates = templates
        self._kept = kept
        self.name = model.name

    def write(self, task: SummaryTask) -> EngineText:
        """The model's summary, checked for faults, retention, needs and invention; that of an
        earlier run where the question is the same.

        Raises ModelError when the endpoint fails, CancelledError, TemplateError, and
        RetryExhaustedError when no attempt passes.
        """
        prompt, remark = self._prompt(task)
        asked_first = prompt[-1]
        room = self._room(task)
        key = self._key(task, prompt, room)
        answered, unread = self._answered(task, key, prompt)
        if answered is not None:
            return structs.replace(answered, note=remark)
        remark = "; ".join(filter(None, (remark, unread)))
        notes: list[ChatMessage] = []
        used = attempts = 0
        waited = 0.0
        usable: list[Completion] = []

        def attempt() -> Completion:
            nonlocal used, attempts, waited
            if task.cancelled is not None and task.cancelled():
                raise CancelledError("Stopped before the model was asked.")
            attempts += 1
            if task.on_attempt is not None:
                task.on_attempt(attempts)
            began = time.perf_counter()
            try:
                answer = self._model.complete(
                    [*prompt, *notes],
                    max_tokens=room,
                    temperature=task.options.temperature,
                    cancelled=task.cancelled,
                    on_text=task.on_text,
                )
            except CancelledError:
                raise
            except ModelError as failure:
                if usable:
                    return usable[-1]  # it only had gaps, which are patched
                if not isinstance(failure, EmptyAnswerError):
                    raise
                answer = Completion("", self._model.name, 0, 0)
            waited += time.perf_counter() - began
            used += answer.prompt_tokens + answer.completion_tokens
            return self._read(answer)

        def validate(answer: Completion) -> tuple[bool, str | None]:
            problem = self._fault(task, answer, prompt)
            if problem is not None:
                notes[:] = []  # a faulty answer is not worth revising
            elif failures := validate_retention(answer.text, task.criteria):
                problem = diagnosis(failures)
            elif not usable and task.options.max_retries:
                # Asked for once; a second summary with the same gaps is patched and listed.
                usable.append(answer)
                problem = self._too_long(task, answer) or find_gaps(task, answer.text)
            if problem is not None and self._fault(task, answer, prompt) is None:
                notes[:] = [ChatMessage("assistant", self._cut(answer.text, room))]
            return problem is None, problem

        def steer(problem: str) -> None:
            if notes:
                notes.append(ChatMessage("user", steering(problem)))
            else:
                prompt[-1] = ChatMessage("user", f"{asked_first.content}\n\n{steering(problem)}")

        result = retry_with_steering(attempt, validate, steer, task.options.max_retries)
        text = result.value.text
        refused = invention(task, text) or emptiness(task, text)
        if refused is not None:
            raise RetryExhaustedError(refused, result.attempts, result.value)
        if self._kept is not None:
            unkept = self._kept.keep(key, result.value)
            remark = "; ".join(filter(None, (remark, unkept)))
        return EngineText(
            self._finished(task, text), self.name, used, result.attempts, waited, note=remark
        )

    def _read(self, answer: Completion) -> Completion:
        """An answer without what the model wrapped around it, and with the tokens of the rest."""
        text = with_titles(cleaned(answer.text))
        if text == answer.text:
            return answer
        return structs.replace(answer, text=text, completion_tokens=self._count(text))

    def _fault(
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

    def _too_long(self, task: SummaryTask, answer: Completion) -> str | None:
        """What to say of a hand-over that is much longer than its limit."""
        if template_of(task, self._context_tokens) != HANDOVER:
            return None
        tokens = self._count(answer.text)
        if tokens <= task.max_tokens * SLIGHTLY and answer.finish != "length":
            return None
        return (
            f"It has {tokens:,} tokens; at most {task.max_tokens:,} are allowed. Shorten the "
            "history of what is finished, and keep what is open, with its details."
        )

    def _finished(self, task: SummaryTask, text: str) -> str:
        """The summary with a line for each need that it misses; a hand-over within its limit."""
        if template_of(task, self._context_tokens) != HANDOVER:
            return patched(task, text)
        sections = {need: section for section, need in NEED_OF.items()}
        lines = [(sections[need], line) for need, line in _missing_needs(task, text)]
        spare = sum(self._count(f"- {line}\n") for _, line in lines)
        text = trimmed(text, max(task.max_tokens - spare, 1), self._count)
        for section, line in lines:
            text = with_line(text, section, line)
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
        found = self._read(found)
        text = found.text
        failures = validate_retention(text, task.criteria)
        wrong = (
            self._fault(task, found, prompt)
            or (diagnosis(failures) if failures else None)
            or invention(task, text)
        )
        if wrong is not None:
            return None, f"a kept answer was not used: {wrong}"
        if task.on_text is not None:
            task.on_text(text)
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
        data: dict[str, object] = {
            "anchors": [{"type": str(a.type), "content": a.content} for a in task.anchors],
            "quoted": [{"text": quoted}] if quoted else [],
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
            data["anchors"] = data["quoted"] = []
            frame = sum(self._count(one.content) for one in messages(""))
            free = self._context_tokens - frame - 2 * self._room(task) - MARGIN
        if free < LEAST_ROOM:
            raise ModelError(
                f"The model's context of {self._context_tokens:,} tokens is too small for the "
                f"prompt of {template.template_id}. Raise context_tokens under [model], or use the "
                "offline engine."
            )
        if template.template_id != HANDOVER:
            return messages(cut_text(view_turns(task.analysis), free, self._count)), ""
        view = handover_view(task.analysis, free, self._count)
        remark = ""
        if view.left_out:
            remark = (
                f"{view.left_out:,} characters of what was said were left out, so that the model "
                f"reads at most {min(free, LONGEST):,} tokens"
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
