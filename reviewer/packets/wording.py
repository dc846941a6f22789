"""The forms of an item in a packet: full, short, or title."""

from __future__ import annotations

import re

from msgspec import structs

from reviewer.packets.values import SCORED, Item, Section
from reviewer.text.sentences import split_sentences, whole_sentences

TITLE_CHARS = 80
LEAD_CHARS = 240

_LABEL = re.compile(r"(?:^|\s)#[\w-]+:\S+")
_LISTED = re.compile(r"\n[ \t]*(?:[-*+]|\d+[.)]|```|~~~)")
_MARKS = re.compile(r"\*\*|__|~~")
_FIELD = re.compile(
    r"(?<!\s)\s*+(?:[-*+]\s++)?\*\*(?:([\w /-]{2,40})\*\*:?|([\w /-]{2,40}):\*\*)\s*"
)
_KEY_LABELS = ("decision", "lesson", "learning", "rule", "application", "rationale", "consequence")
"""Labels of the most telling paragraphs of an entry, best first."""


def title_of(text: str) -> str:
    """A title for a text without one: its first sentence on one line, without labels such as
    `#added:2026-02-14` and without emphasis, cut at a word to TITLE_CHARS.
    """
    line = _one_line(_LISTED.split(text[:2000], maxsplit=1)[0])
    sentence = next((line[a:b] for a, b in split_sentences(line, 0, len(line))), "")
    return cut(sentence.rstrip(" .:;,"), TITLE_CHARS)


def cut(text: str, limit: int) -> str:
    """The text cut to `limit` characters, with an ellipsis if anything is missing."""
    if len(text) > limit:
        text = f"{text[: limit - 1].rsplit(' ', 1)[0].rstrip(' .,:;-—(')}…"
    if text.count("`") % 2:
        text = "".join(text.rsplit("`", 1))
    return text


def lead_of(text: str, title: str = "") -> str:
    """The gist of an entry on one line of at most LEAD_CHARS.

    The labelled decision or lesson if there is one, else the first paragraph. Paragraphs that only
    repeat the title are skipped.
    """
    paragraphs = [part for part in re.split(r"\n\s*\n", text[:20_000]) if part.strip()]
    for at in sorted(range(len(paragraphs)), key=lambda at: _label_rank(paragraphs[at])):
        line = _one_line(_FIELD.sub("", paragraphs[at], count=1))
        if line and bare(line) != bare(title):
            if line.endswith(":"):  # a list or table follows
                line = _one_line(" ".join([line, *paragraphs[at + 1 : at + 2]]))
            return _sentences(line, LEAD_CHARS)
    return ""


def _sentences(line: str, limit: int) -> str:
    """As many whole sentences as fit, or the beginning of the first."""
    kept = whole_sentences(line, limit)
    return cut(line, limit) if not kept or kept.endswith(":") else kept


def _label_rank(paragraph: str) -> int:
    found = _FIELD.match(paragraph)
    label = ((found[1] or found[2]) if found else "").lower()
    for place, word in enumerate(_KEY_LABELS):
        if label.startswith(word):
            return place
    return len(_KEY_LABELS) + bool(label)


def _one_line(text: str) -> str:
    return " ".join(_LABEL.sub(" ", _MARKS.sub("", text)).split())


def bare(text: str) -> str:
    """The words of a text in lower case."""
    return re.sub(r"\W+", " ", text).strip().lower()


LONGEST_TITLE = 160
MUCH_SHORTER = 0.7
"""A longer lead, as a share of the full form, is not used."""


def full_form(item: Item, *, marks: bool) -> str:
    """The whole item; a convention with the heading above it."""
    return _written(item, item.text, marks)


def short_form(item: Item, *, marks: bool) -> str | None:
    """The lead of an item; None if it adds nothing to the title, or is hardly shorter than the full
    form.

    Ends with the item's place, where the rest can be read.
    """
    if len(item.text) <= LEAD_CHARS and not item.heading:
        return None if item.text == item.title else _written(item, item.text, marks)
    lead = lead_of(item.text, item.title)
    if not lead or len(lead) > MUCH_SHORTER * len(item.text):
        return None
    brief = structs.replace(item, title=cut(item.title, LONGEST_TITLE))
    return _written(brief, lead, True)


def title_form(item: Item) -> str:
    """The title of the item as a list item, with its place."""
    return f"- {_date(item)}{title_in_full(item)}{_superseded(item)}{_mark(item, True)}"


def title_in_full(item: Item) -> str:
    """The title of the item without its date and place."""
    return cut(item.title, LONGEST_TITLE) or title_of(item.text)


def _written(item: Item, text: str, marks: bool) -> str:
    if item.heading:
        head = f"### {_date(item)}{item.title}{_superseded(item)}{_mark(item, marks)}"
        return f"{head}\n\n{text}" if text else head
    first, *rest = text.split("\n")
    mark = f"({item.outdated}) " if _superseded(item) else ""
    group = f"{item.group}: " if item.group and item.section is Section.CONVENTIONS else ""
    lines = [f"- {_date(item)}{mark}{group}{first}"]
    lines += [f"  {line}".rstrip() for line in rest]
    if marks:
        lines[0 if len(lines) == 1 else -1] += _mark(item, marks)
    return "\n".join(lines)


def _date(item: Item) -> str:
    """The date of a ranked entry under a heading; in a line it would take a fifth of the room."""
    dated = item.at and item.heading and item.section in SCORED
    return f"[{item.at:%Y-%m-%d}] " if dated else ""


def _superseded(item: Item) -> str:
    if not item.superseded or item.title.lower().startswith("superseded"):
        return ""
    return f" ({item.outdated})"


def _mark(item: Item, marks: bool) -> str:
    return f" [{item.place}]" if marks else ""
