"""The context of a question besides the session: findings with their lines, and known texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from reviewer.proposing.shortened import cut
from reviewer.proposing.values import ViewLine
from reviewer.sessions.findings import Finding
from reviewer.sessions.signatures import failing_lines, is_of_the_day
from reviewer.text.numerals import count
from reviewer.text.tokens import counter

MAX_TOKENS = 2_700
"""Maximum tokens of findings and known texts in one question."""
FOR_KNOWN = 0.45
"""Share of those tokens for known texts."""
NAMED_SHARE = 0.5
"""A known text is listed if the session contains at least this share of its names."""
WORDS_CHARS = 100
"""Maximum characters of the person's words; the session has them in full."""
_NAME, _WORD = re.compile(r"`([^`]+)`"), re.compile(r"[\w.-]{4,}")


class KnownText(Struct, frozen=True):
    """Something already known. `place`: `#12` for a row, `CLAUDE.md:7` for a line; `day`: that of
    its latest proof, and `rejected` or `once` (meant for once) if it is; `signature`: that of the
    finding behind it.
    """

    place: str
    text: str
    day: str = ""
    signature: str = ""

    @property
    def line(self) -> str:
        """`#12 (2026-02-14) Run the linter before pushing`."""
        return f"{self.place} ({self.day}) {self.text}" if self.day else f"{self.place} {self.text}"


class QuestionContext(Struct, frozen=True):
    """The context of a question about part of a session, as text. `signatures`: those of its
    findings, or how they begin.
    """

    findings: str = ""
    known: str = ""
    signatures: frozenset[str] = frozenset()


def given(
    lines: Sequence[ViewLine],
    findings: Sequence[Finding],
    known: Sequence[KnownText],
    *,
    sessions: Mapping[str, int] = {},
    tokens: int = MAX_TOKENS,
) -> QuestionContext:
    """The context for a question about these lines, within a token budget: findings, and known
    texts related to the lines. The person's words come first, then lasting lessons before errors in
    the day's code, then by cost. `sessions`: the sessions with a signature.
    """
    if not lines:
        return QuestionContext()
    first, last = lines[0].line, lines[-1].line
    own = [each for each in findings if each.evidence and first <= each.evidence[0].line <= last]
    own.sort(
        key=lambda each: (
            not each.words,
            -sessions.get(each.signature, 1),
            _is_of_the_day(each),
            -each.cost,
        )
    )
    shown = partial(_finding_line, sessions)
    fitting = _fitting(map(shown, own), tokens - int(tokens * FOR_KNOWN))
    own = sorted(own[: len(fitting)], key=lambda each: each.evidence[0].line)
    signatures = frozenset(each for finding in own for each in _signatures(finding))
    near = known_near(lines, known, signatures, tokens)
    return QuestionContext("\n".join(map(shown, own)), near, signatures)


def _is_of_the_day(finding: Finding) -> bool:
    return any(map(is_of_the_day, failing_lines(finding.text)))


def known_near(
    lines: Sequence[ViewLine],
    known: Sequence[KnownText],
    signatures: Collection[str],
    tokens: int,
) -> str:
    """Known texts about findings whose signatures begin like these, then those with most of their
    names in the lines, as text.
    """
    about = tuple(signatures)
    found = [each for each in known if each.signature.startswith(about)]
    found += _nearest("\n".join(line.text for line in lines), known)
    return "\n".join(
        _fitting((each.line for each in dict.fromkeys(found)), int(tokens * FOR_KNOWN))
    )


def _signatures(finding: Finding) -> Iterator[str]:
    """The signature of a finding, and how those of the same linter rules begin."""
    if finding.signature:
        yield finding.signature
    yield from (f"{line.rule}: " for line in failing_lines(finding.text) if line.rule)


def _fitting(texts: Iterable[str], tokens: int) -> list[str]:
    """The leading texts that fit."""
    encoding, kept = counter(), list[str]()
    for text in texts:
        tokens -= encoding.count(text) + 1
        if tokens < 0:
            break
        kept.append(text)
    return kept


def _finding_line(sessions: Mapping[str, int], finding: Finding) -> str:
    at = ", ".join(f"[{each.line}]" for each in finding.evidence)
    where = f" of `{finding.command}`" if finding.command else ""
    price = f"{count(finding.cost, 'call')} lost"
    if (again := sessions.get(finding.signature, 1)) > 1:
        price += f", came up in {again} sessions"
    text = f"{at} {finding.kind}{where}, {price}: {finding.text}"
    if finding.words:
        text += f" / the person: {cut(finding.words, WORDS_CHARS).text}"
    if finding.fix:
        text += f" / {'then' if finding.words else 'fixed by'}: {finding.fix}"
    return " ".join(text.split())


def _nearest(text: str, known: Sequence[KnownText]) -> list[KnownText]:
    """Known texts with most of their names in a text, best match first; those without names by
    their words. What many of them share has little weight.
    """
    text = text.lower()
    words = set(re.findall(r"\w+", text))
    names = [
        set(_NAME.findall(each) or _WORD.findall(each))
        for each in (one.text.lower() for one in known)
    ]
    common = Counter(name for each in names for name in each)
    present = {
        name for name in common if name in words or (not name.isidentifier() and name in text)
    }

    def weight(some: Iterable[str]) -> float:
        return sum(1 / common[name] for name in some)

    shares = [weight(each & present) / (weight(each) or 1) for each in names]
    near = [at for at, share in enumerate(shares) if share >= NAMED_SHARE]
    return [known[at] for at in sorted(near, key=lambda at: -shares[at])]
