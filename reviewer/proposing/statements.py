"""Asks a model for the statements of a piece of a session, and proves them.

Statements that fail the proof are asked for once more, in one request with the reasons. Nothing is
lost silently: every statement is returned with its proof, or counted with a reason.
"""

from __future__ import annotations

import logging
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from reviewer.errors import ReviewerError
from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.rules import LONGEST_STATEMENT, SHORTEST_STATEMENT
from reviewer.llm.answer_cache import AnswerCache, question_key
from reviewer.llm.model import (
    ChatMessage,
    ChatModel,
    Completion,
    JsonSchema,
    ModelError,
)
from reviewer.llm.spending import about
from reviewer.llm.templates import Fields, fence_for, load_template, render
from reviewer.proposing.answers import SCHEMA, TYPES, WISHES, Statement, read_answer
from reviewer.proposing.given import QuestionContext
from reviewer.proposing.proof import reasons as why_not
from reviewer.proposing.proof_index import has
from reviewer.proposing.statement_facts import NEIGHBOURS
from reviewer.proposing.values import Proof, Proposal, Proposer, Proved, Quote, ViewLine
from reviewer.proposing.view_pieces import Piece, view_text
from reviewer.sources.events import Speaker
from reviewer.text.tokens import counter

log = logging.getLogger(__name__)

TEMPLATES = Path(__file__).parent / "templates"
FIRST, AGAIN = "statements", "statements-again"
FIELDS: dict[str, Fields] = {
    FIRST: (
        "lines", "earlier", "known", "findings", "fence", "part", "parts", "day", "most", "longest",
    ),
    AGAIN: ("failed", "lines", "fence", "longest"),
}  # fmt: skip

MOST = 15
"""Maximum statements to ask for."""
TEMPERATURE = 0.2
ANSWER_TOKENS = 4000
EXPECTED_ANSWER = 900
"""Tokens of a typical answer, for cost estimates."""
SHOWN = 1_000
"""Maximum characters of a line in the second question."""

TOO_SHORT = f"shorter than {SHORTEST_STATEMENT} characters"
TOO_LONG = f"longer than {LONGEST_STATEMENT} characters"
NO_QUOTE = "without a quote"
NOT_IN_SESSION = "quotes not found in the session"
GIVEN_UP = "given up on the second attempt"
REFUSED = "the model refused"
CUT_OFF = "the answer was cut off before the first complete statement"
CUT_SHORT = "the answer was cut off; its complete statements were used"
REPEATED = "repeated in the answer"


NOTHING_GIVEN = QuestionContext()


class PieceQuestion(Struct, frozen=True):
    """The question about one piece. `tokens`: of the messages, counted here."""

    messages: tuple[ChatMessage, ...]
    key: str
    tokens: int
    schema: JsonSchema


class PieceStatements(Struct, frozen=True):
    """The statements of one piece. `dropped`: reason -> number of statements or answers.

    `read`: the answer had something readable. `problem`: why there is no answer to the second
    question.
    """

    proved: tuple[Proved, ...] = ()
    dropped: Mapping[str, int] = {}
    read: bool = True
    problem: ModelError | None = None


class BudgetReachedError(ReviewerError):
    """The run's token limit does not allow another request."""


class Spent:
    """Requests and tokens sent to a model, including failed and cancelled requests; thread-safe.

    `limit`: of the tokens sent, by our own count.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.requests = self.tokens_in = self.tokens_out = 0
        self._left = limit
        self._lock = threading.Lock()

    def reserve(self, tokens: int) -> None:
        """Raise BudgetReachedError if the limit does not allow a question of this size."""
        with self._lock:
            if self._left is None:
                return
            if tokens > self._left:
                raise BudgetReachedError("The token limit is reached.")
            self._left -= tokens

    def add(self, requests: int, tokens_in: int, tokens_out: int) -> None:
        with self._lock:
            self.requests += requests
            self.tokens_in += tokens_in
            self.tokens_out += tokens_out


class StatementWriter:
    """Writes the statements of session pieces with a model; thread-safe.

    `templates`: a folder with templates to replace the built-in ones. Raises TemplateError for an
    unusable template.
    """

    def __init__(
        self,
        model: ChatModel,
        cache: AnswerCache,
        *,
        templates: Path | None = None,
        proposer: Proposer = Proposer.MODEL,
        answer_tokens: int = ANSWER_TOKENS,
    ) -> None:
        self._model = model
        self._cache = cache
        self._proposer = proposer
        self._answer_tokens = answer_tokens
        self._templates = {
            name: load_template(name, TEMPLATES, templates, fields)
            for name, fields in FIELDS.items()
        }
        self.rule = f"{proposer}.{model.name}"

    def prompt_tokens(self) -> int:
        """Tokens of an empty question."""
        return self.question(Piece(()), part=1, parts=1).tokens

    def question(
        self, piece: Piece, *, part: int, parts: int, given: QuestionContext = NOTHING_GIVEN
    ) -> PieceQuestion:
        """The question about piece number `part` of `parts`.

        Its cache key leaves out the known texts, which grow with every run.
        """
        messages = self._messages(piece, part, parts, given)
        bare = self._messages(piece, part, parts, structs.replace(given, known=""))
        return self.asking(messages, kept_under=bare)

    def _messages(
        self, piece: Piece, part: int, parts: int, given: QuestionContext
    ) -> list[ChatMessage]:
        lines, before = view_text(piece.lines), view_text(piece.before)
        return render(
            self._templates[FIRST],
            {
                "lines": lines,
                "earlier": before,
                "known": given.known,
                "findings": given.findings,
                "fence": fence_for("recording", lines + before + given.findings + given.known),
                "part": part,
                "parts": parts,
                "day": next((line.at[:10] for line in reversed(piece.lines) if line.at), ""),
                "most": MOST,
                "longest": LONGEST_STATEMENT,
            },
        )

    def is_cached(self, question: PieceQuestion) -> bool:
        return self._kept(question) is not None

    def write(
        self,
        path: Path,
        piece: Piece,
        *,
        part: int = 1,
        parts: int = 1,
        given: QuestionContext = NOTHING_GIVEN,
        check: Callable[[Proposal], Proof],
        cancelled: Callable[[], bool] = lambda: False,
        spent: Spent,
    ) -> PieceStatements:
        """Write the statements of a piece of the session at `path`, with their proofs: those that
        pass at the first or second attempt, and failed ones with a quote from the session.

        `check` proves a proposal. Raises BudgetReachedError if the limit of `spent` does not allow
        the first request, ModelError, CancelledError.
        """
        lines = (*piece.before, *piece.lines)
        work = _Work(self, path, lines, given.known, check, cancelled, spent)
        found = work.asked(self.question(piece, part=part, parts=parts, given=given))
        failed = [each for each in found or () if each.reasons]
        problem, again = None, None
        try:
            again = work.asked(self.again(failed, work.lines)) if failed else None
        except BudgetReachedError:
            work.dropped["not asked again: token limit reached"] += 1
        except ModelError as raised:
            problem = raised
        if again is not None:
            work.dropped[GIVEN_UP] += max(len(failed) - len(again), 0)
            failed = again
        passed = [each for each in found or () if not each.reasons]
        kept = [
            each for each in (*passed, *failed) if len(each.statement.text) <= LONGEST_STATEMENT
        ]
        work.dropped[TOO_LONG] += len(passed) + len(failed) - len(kept)
        return PieceStatements(
            tuple(each.proved for each in kept), dict(+work.dropped), found is not None, problem
        )

    def asking(
        self,
        messages: Sequence[ChatMessage],
        *,
        kept_under: Sequence[ChatMessage] = (),
        schema: JsonSchema = SCHEMA,
    ) -> PieceQuestion:
        """The question with these messages."""
        key = question_key(
            kept_under or messages, self._model.name, self._answer_tokens, TEMPERATURE, "json"
        )
        ours = counter()
        tokens = sum(ours.count(one.content) for one in messages)
        return PieceQuestion(tuple(messages), key, tokens, schema)

    def _kept(self, question: PieceQuestion) -> Completion | None:
        """The cached answer; an unreadable one is requested again."""
        kept = self._cache.find(question.key)
        asks_for_statements = question.schema is SCHEMA
        if kept is not None and asks_for_statements and read_answer(kept.text).unreadable:
            return None
        return kept

    def answer(
        self, question: PieceQuestion, spent: Spent, cancelled: Callable[[], bool]
    ) -> Completion:
        """The answer to a question; a new one is cached before anything else.

        Raises BudgetReachedError, ModelError, CancelledError.
        """
        kept = self._kept(question)
        if kept is not None:
            return kept
        spent.reserve(question.tokens)
        try:
            answer = self._model.complete(
                question.messages,
                max_tokens=self._answer_tokens,
                temperature=TEMPERATURE,
                schema=question.schema,
                cancelled=cancelled,
            )
        except ModelError as problem:
            spent.add(problem.sent, question.tokens * problem.sent, problem.tokens_out)
            raise
        spent.add(answer.requests, answer.prompt_tokens, answer.completion_tokens)
        try:
            self._cache.keep(question.key, answer)
        except OSError as problem:  # it is paid for, so use it
            log.warning("An answer is not cached, so the next run asks again: %s", problem)
        return answer

    def again(self, failed: Sequence[_Checked], lines: Sequence[ViewLine]) -> PieceQuestion:
        """The question about statements that failed, with the reasons and their lines."""
        text = view_text(_shown(failed, lines))
        fields = {
            "failed": "\n".join(
                f"{number}. {msgspec.json.encode(each.statement).decode()}\n"
                f"   It did not pass: {' '.join(each.reasons)}"
                for number, each in enumerate(failed, 1)
            ),
            "lines": text,
            "fence": fence_for("recording", text),
            "longest": LONGEST_STATEMENT,
        }
        return self.asking(render(self._templates[AGAIN], fields))

    def proposal(self, statement: Statement, lines: Sequence[ViewLine], known: str) -> Proposal:
        """A statement as a proposal; the speaker is read from the cited lines. `known`: the rows
        that it may be related to; one that joins a row has its wording.
        """
        joins = _row(statement, "joins", known)
        kind = statement.kind if statement.kind in TYPES else ""
        sure = statement.confidence
        return Proposal(
            statement=_listed_text(joins, known) if joins else statement.text,
            type=TYPES.get(kind, MemoryType.KNOWLEDGE),
            quotes=statement.quotes,
            speaker=_speaker(statement, lines),
            proposer=self._proposer,
            rule=self.rule,
            kind=kind,
            confidence=sure if sure is not None and 0 <= sure <= 1 else None,
            standing=statement.standing,
            joins=joins,
            replaces=_row(statement, "replaces", known),
        )


class _Checked(Struct, frozen=True):
    """A statement with its proof. `reasons`: why to ask again; none if it passed."""

    statement: Statement
    proved: Proved
    reasons: tuple[str, ...]


@dataclass
class _Work:
    """The one or two requests for a piece."""

    writer: StatementWriter
    path: Path
    lines: tuple[ViewLine, ...]
    known: str
    check: Callable[[Proposal], Proof]
    cancelled: Callable[[], bool]
    spent: Spent
    dropped: Counter[str] = field(default_factory=Counter)
    passed: set[str] = field(default_factory=set)

    def asked(self, question: PieceQuestion) -> list[_Checked] | None:
        """The statements of an answer with a quote from the session; None if it is unreadable."""
        with about(self.path.stem):
            completion = self.writer.answer(question, self.spent, self.cancelled)
        read = read_answer(completion.text)
        cut_off = completion.finish == "length" or read.cut
        if read.unreadable:
            why = REFUSED if completion.finish == "filtered" else CUT_OFF if cut_off else ""
            self.dropped.update({why: 1} if why else read.dropped)
            return None
        self.dropped.update(read.dropped)
        self.dropped[CUT_SHORT] += cut_off
        return list(filter(None, map(self._checked, read.statements)))

    def _checked(self, statement: Statement) -> _Checked | None:
        """A statement with its proof; None, counted, if it is unusable."""
        proposal = self.writer.proposal(statement, self.lines, self.known)
        plain = _plain(proposal.statement)
        proof = self.check(proposal)
        if proposal.joins:
            proof = structs.replace(proof, not_alone_because="", known=())
        # What it joins or replaces was proved once.
        related = _listed_text(proposal.joins or proposal.replaces, self.known).lower()
        left = tuple(fact for fact in proof.unproved if not has(related, fact.lower()))
        proof = structs.replace(proof, unproved=left)
        unusable = {
            TOO_SHORT: len(proposal.statement) < SHORTEST_STATEMENT,
            REPEATED: plain in self.passed,
            NO_QUOTE: not statement.quotes,
            NOT_IN_SESSION: not any(quote.found for quote in proof.quotes),
        }
        if why := next((why for why, so in unusable.items() if so), ""):
            self.dropped[why] += 1
            return None
        reasons = [] if proof.sound else [*why_not(proof)] or ["The session does not prove it."]
        if len(proposal.statement) > LONGEST_STATEMENT:
            reasons.append(f"It has more than {LONGEST_STATEMENT} characters.")
        reasons += (
            f"Line {quote.line}, in a later part, says about the same: {quote.text!r}. If that"
            " takes the statement back, say what holds now, or leave it out."
            for quote in proof.later
            if quote.line > self.lines[-1].line
        )
        if not reasons:
            self.passed.add(plain)
        return _Checked(statement, Proved(self.path, proposal, proof), tuple(reasons))


def _shown(failed: Sequence[_Checked], lines: Sequence[ViewLine]) -> list[ViewLine]:
    """The lines that statements cite, around the quotes, and their neighbours."""
    quotes = {quote.line: quote.text for each in failed for quote in each.proved.proof.quotes}
    near: dict[int, int] = {}
    for at, line in enumerate(lines):
        if line.line in quotes:
            for beside in range(max(at - NEIGHBOURS, 0), min(at + NEIGHBOURS + 1, len(lines))):
                near.setdefault(beside, 0)
            near[at] = max(line.text.find(quotes[line.line]) - SHOWN // 2, 0)
    return [
        structs.replace(lines[at], text=lines[at].text[start : start + SHOWN])
        for at, start in sorted(near.items())
    ]


def _row(statement: Statement, relation: str, known: str) -> int:
    """Number of the listed row of a relation; 0 for none. A cached answer may contain numbers from
    another store.
    """
    named = re.fullmatch(rf"{relation} #(\d{{1,9}})", statement.relation, re.ASCII)
    if named is None or not re.search(rf"^#{named[1]} ", known, re.MULTILINE):
        return 0
    return int(named[1])


def _listed_text(number: int, known: str) -> str:
    """The text of a listed row; empty if there is none."""
    listed = re.search(rf"^#{number} (?:\([^)]*\) )?(.*)$", known, re.MULTILINE)
    return listed[1] if listed else ""


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _speaker(statement: Statement, lines: Sequence[ViewLine]) -> Speaker:
    """Whose words a statement is: the person's if all quotes are theirs, or one of a wish."""
    found = [line.speaker for quote in statement.quotes if (line := _cited(quote, lines))]
    others = [speaker for speaker in found if speaker is not Speaker.PERSON]
    wish = statement.kind in WISHES and Speaker.PERSON in found
    return Speaker.PERSON if found and (wish or not others) else (*others, Speaker.AGENT)[0]


def _cited(quote: Quote, lines: Sequence[ViewLine]) -> ViewLine | None:
    at = [line for line in lines if line.line == quote.line]
    return next((line for line in at if quote.text in line.text), at[0] if at else None)
