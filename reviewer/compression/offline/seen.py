"""What a hand-over says in the room that its other sections leave: the code of the latest edits,
and what the latest reads, searches and commands found.

Both spare the next session the same calls. What counts most is what the agent found last, since
nothing that it said or did shows it yet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from msgspec import Struct

from reviewer.compression.offline.asked import asked_forms, pointed_to
from reviewer.compression.offline.call_told import short_path
from reviewer.compression.offline.calls import PROSE_FILE, names_added
from reviewer.compression.offline.dialogue import is_assent
from reviewer.compression.offline.edits import Piece
from reviewer.compression.offline.events import COMMENT, Message, Moment, Voice
from reviewer.compression.offline.line import is_person
from reviewer.compression.offline.looks import (
    Look,
    Way,
    decisive,
    definitions,
    looks_of,
    span,
)
from reviewer.compression.offline.state import File, WorkState, is_own
from reviewer.compression.offline.tail import Tail
from reviewer.proposing.view_calls import cut
from reviewer.text.for_agents import NOTHING, AgentText, as_markdown
from reviewer.text.secrets import mask

EDITS_TITLE, LOOKED_TITLE = "## Latest edits", "## Looked at"
LEAST_ROOM = 60
"""Tokens below which nothing is worth the room."""
FULL = 0.03
"""Share of the room up to which it counts as filled."""
TITLES = 12
"""Tokens for the titles of both sections."""
SHARES = (0.4, 0.25, 0.18)
"""Share of the room that the first, the second and any other entry may have at first."""
LEAST_ENTRY = 12
MOST_ENTRIES = 24
LAST_MESSAGES = 4
"""Messages at the end in which a file is looked for that the agent may need next."""
WHOLE_LINES = 60
"""Lines of a file or an output up to which its text may be shown as it is."""
MOST_HITS = 10
MOST_DEFINED = (40, 16, 6, 3)
"""Definitions and lines about the work that are shown of a file."""
KEY_CHARS = 110
FEW_FOUND = 3
"""Definitions below which the text itself says more."""
HIT_CHARS = 160
SAID_BEFORE = 0.7
"""Share of the lines of a result that the text has already, from which on it is left out."""
CUTS = (40, 24, 14, 8)
FEWEST = 5
"""Lines of a text, where it is cut."""
LEAST_CHANGED = 3
"""Lines of code that an edit before the latest one changes at least: the last steps tell others."""
AROUND = 1
"""Lines before and after a changed one."""
FADING = 0.15
FEW_ROWS = 2
"""Lines of a result that the last steps have, where they are told there."""
"""By how much each later result lessens what an earlier one is worth."""


class Entry(Struct):
    """Something that may be shown. `told`: makes its texts, the longest first."""

    worth: float
    order: int
    title: str
    told: Callable[[], Iterable[str]]
    forms: list[str] = []
    form: int = -1
    cost: int = 0


def seen(
    moments: Sequence[Moment],
    state: WorkState,
    tail: Tail,
    given: str,
    room: int,
    count: Callable[[str], int],
) -> AgentText:
    """Two sections of Markdown in at most `room` tokens, without what `given` has already."""
    if room < LEAST_ROOM:
        return NOTHING
    request, spoke = _since(moments)
    known = {_plain(line) for line in re.split(r"[\n;|]|\. ", given)}
    looks = _once(looks_of(tail), state)
    looked = max((look.turn for look in looks if not look.checks or look.failed), default=-1)
    entries = [
        *_edit_entries(state, request, looked, known),
        *_look_entries(looks, state, moments, request, spoke, known, given),
    ]
    entries.sort(key=lambda each: (-each.worth, -each.order))
    del entries[MOST_ENTRIES:]
    for entry in entries:
        entry.forms = list(dict.fromkeys(entry.told()))
    chosen = _chosen([each for each in entries if each.forms], room - TITLES, count)
    return _written(chosen, room, count)


def _chosen(entries: Sequence[Entry], room: int, count: Callable[[str], int]) -> list[Entry]:
    """The entries that fit, each in the longest form for which there is room."""
    left = room
    chosen: list[Entry] = []
    for share in (*SHARES, 1.0):
        rest = [each for each in entries if each not in chosen]
        for entry in rest[: 1 if share in SHARES[:-1] else None]:
            least = left if share in SHARES[:-1] else 0
            left -= _take(entry, min(left, max(int(room * share), LEAST_ROOM)), least, count)
            if entry.form >= 0:
                chosen.append(entry)
            if left < LEAST_ENTRY:
                break
    chosen.sort(key=entries.index)
    for entry in chosen:
        for at in range(entry.form):
            if left < room * FULL:
                return chosen
            cost = count(f"{entry.forms[at]}\n\n")
            if cost - entry.cost <= left:
                left -= cost - entry.cost
                entry.form, entry.cost = at, cost
                break
    return chosen


def _take(entry: Entry, most: int, least: int, count: Callable[[str], int]) -> int:
    """Give an entry its longest form of at most `most` tokens, or else its shortest one of at most
    `least`, and return what that costs.
    """
    last = len(entry.forms) - 1
    for at, text in enumerate(entry.forms):
        cost = count(f"{text}\n\n")
        if cost <= most or (at == last and cost <= least):
            entry.form, entry.cost = at, cost
            return cost
    return 0


def _written(chosen: list[Entry], room: int, count: Callable[[str], int]) -> AgentText:
    while chosen:
        parts: list[str] = []
        for title in (EDITS_TITLE, LOOKED_TITLE):
            texts = [each.forms[each.form] for each in chosen if each.title == title]
            if texts:
                parts += [title, *_with_bullets_joined(texts)]
        text = as_markdown("\n\n".join(parts))
        if count(f"\n\n{text}") <= room:
            return text
        last = chosen[-1]
        if last.form + 1 < len(last.forms):
            last.form += 1
        else:
            chosen = chosen[:-1]
    return NOTHING


def _with_bullets_joined(texts: Sequence[str]) -> list[str]:
    """The texts, with lines of a list that follow each other as one list."""
    found: list[str] = []
    for text in texts:
        if found and text.startswith("- ") and found[-1].startswith("- "):
            found[-1] += f"\n{text}"
        else:
            found.append(text)
    return found


def _since(moments: Sequence[Moment]) -> tuple[int, int]:
    """The turns of the current request, and of the agent's last words."""
    request = spoke = -1
    for each in moments:
        if isinstance(each, Message):
            if is_person(each) and not is_assent(each.text):
                request = each.turn
            elif each.voice is Voice.AGENT:
                spoke = each.turn
    return request, spoke


def _plain(text: str) -> str:
    return " ".join(text.replace("`", " ").split()).strip(" -*.")


# The code of the latest edits


def _edit_entries(state: WorkState, request: int, looked: int, known: set[str]) -> Iterator[Entry]:
    """The code that the edits since the request have put in and that is not committed."""
    files = [each for each in state.uncommitted if each.last >= request and not is_own(each.path)]
    files.sort(key=lambda each: -each.at)
    behind = 0
    for file in files:
        for piece in reversed(file.new.pieces):
            rows = _changed_rows(piece, file, is_latest=not behind)
            if not rows:
                continue
            lines = [text for text in rows if not text.startswith(_GAP)]
            if _share_known(lines, known) >= SAID_BEFORE:
                continue
            worth = 1.0 / (1 + FADING * 2 * behind) * (1.5 if file.last > looked else 0.8)
            within = f", in `{piece.within}`" if piece.within else ""
            new = file.new.written and not piece.within and len(rows) > CUTS[0]
            head = f"`{file.path}`{within}"
            told = partial(_edit_forms, head, rows, file, piece if new else None)
            yield Entry(worth, file.at * 100 - behind, EDITS_TITLE, told)
            behind += 1


def _edit_forms(head: str, rows: Sequence[str], file: File, whole: Piece | None) -> Iterator[str]:
    """The code at several lengths; of a `whole` file at last only what it defines."""
    rows = [mask(row).text for row in rows]
    if len(rows) <= WHOLE_LINES:
        yield _fenced(f"{head}:", rows, _language(file.path))
    for most in CUTS:
        if most + 1 < len(rows):
            yield _fenced(f"{head}:", _specific(rows, file, most), _language(file.path))
    if whole is not None and (names := names_added("", whole.text, file.path)):
        yield f"{head}: {len(rows)} lines, with {', '.join(names)}"


_GAP = "..."


_HEADS_A_FILE = re.compile(
    r"\s*(?:package|import|from|use|using|require|#include)\b"
    r"|\s*(?:[\w.]+ )?\"[\w./@-]+\"[,;]?$|\s*\W*$"
)


def _changed_rows(piece: Piece, file: File, *, is_latest: bool) -> list[str]:
    """The lines of a piece that are new, with those around them; nothing where they are few."""
    is_prose = PROSE_FILE.search(file.path) is not None
    lines = piece.text.rstrip("\n").split("\n")
    new = [
        at
        for at, line in enumerate(lines)
        if (text := line.strip()) in file.new.at
        and text not in file.new.before
        and sum(map(str.isalnum, text)) > 3
        and not _HEADS_A_FILE.match(text)
        and (is_prose or not COMMENT.match(text))
    ]
    if len(new) < (1 if is_latest else LEAST_CHANGED):
        return []
    kept = sorted(
        {
            near
            for at in new
            for near in range(max(0, at - AROUND), min(len(lines), at + AROUND + 1))
        }
    )
    rows = [lines[kept[0]]]
    for before, at in pairwise(kept):
        if at > before + 1:
            rows.append(_GAP)
        rows.append(lines[at])
    return _dedented(rows)


_COMMON_CODE = re.compile(
    r"\s*(?:if err\b|return (?:nil|None|err|false|true|fmt\.Errorf)\b|\w*log\w*\b.*\(|slog\."
    r"|console\.|print\w*\(|(?:import|from|package|use|using)\b|else\b|try\b|pass$|break\b|continue\b"
    r"|defer\b|\w+, err :?= )",
    re.IGNORECASE,
)
"""Code that is alike everywhere: handling of errors, logging, imports."""
_DECIDES = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK)\b|^\s*[\w\"']+:\s+\S|(?<![=!<>])=(?!=).*[\w)\]]$|[=!<>]=|\bif\b|\bcase\b"
)
LOOKED_AT = 300
"""Characters of a line by which it is judged."""
NEAR = 2
"""Lines around one that decides which are shown too, where there is room."""


def _specific(rows: Sequence[str], file: File, most: int) -> list[str]:
    """About `most` of the lines: those of the latest edit that occur once and decide something,
    with the lines around them.
    """
    times = Counter(row.strip() for row in rows)
    newest = max(file.new.at.get(row.strip(), 0) for row in rows)

    def worth(at: int) -> float:
        text = rows[at].strip()
        if text == _GAP or sum(map(str.isalnum, text)) <= 3:
            return 0.0
        shown = rows[at][:LOOKED_AT]
        found = 1.0 + (file.new.at.get(text, 0) == newest) + bool(_DECIDES.search(shown))
        found += 1.0 * (text in file.new.at)
        if times[text] > 1 or _COMMON_CODE.match(shown):
            found *= 0.2
        return found

    worths = [worth(at) for at in range(len(rows))]
    chosen: set[int] = set()
    for at in sorted(range(len(rows)), key=lambda each: (-worths[each], each)):
        if len(chosen) >= most or not worths[at] or (chosen and worths[at] < 1):
            break
        near = range(max(0, at - NEAR), min(len(rows), at + NEAR + 1))
        chosen.add(at)
        chosen.update(
            each
            for each in near
            if len(chosen) < most and rows[each] != _GAP and worths[each] >= worths[at] / 2
        )
    shown: list[str] = []
    before = -1
    for at in sorted(chosen):
        if at > before + 1:
            shown.append(f"... ({at - before - 1} lines)" if at > before + 2 else rows[at - 1])
        shown.append(rows[at])
        before = at
    rest = len(rows) - before - 1
    return [*shown, *([f"... ({rest} lines)"] if rest else [])]


def _dedented(rows: Sequence[str]) -> list[str]:
    indents = [row[: len(row) - len(row.lstrip())] for row in rows if row.strip() and row != _GAP]
    common = min(indents, key=len, default="")
    if not all(each.startswith(common) for each in indents):
        return list(rows)
    return [row if row == _GAP else row.removeprefix(common) for row in rows]


# What was looked at


def _once(looks: Sequence[Look], state: WorkState) -> list[Look]:
    """The looks without those of which a later one has the same or more."""
    kept: list[Look] = []
    seen_rows: dict[str, set[tuple[int, str]]] = {}
    texts: set[tuple[str, ...]] = set()
    heads: set[str] = set()
    for look in reversed(looks):
        if look.path:
            _follow(look, state)
        if look.way is Way.READ and look.rows and look.rows[0][0]:
            rows = seen_rows.setdefault(look.path, set())
            fresh = [row for row in look.rows if row not in rows]
            if len(fresh) < len(look.rows) * (1 - SAID_BEFORE):
                continue
            rows.update(look.rows)
        key = tuple(look.texts)
        if key in texts or (look.way is not Way.READ and look.head in heads):
            continue
        texts.add(key)
        heads.add(look.head)
        kept.append(look)
    return kept[::-1]


def _follow(look: Look, state: WorkState) -> None:
    """Give a file that was moved since its new path."""
    for old, new in state.moved.items():
        folder = old.rstrip("/")
        if look.path == folder or look.path.startswith(f"{folder}/"):
            path = f"{new.rstrip('/')}{look.path[len(folder) :]}"
            look.head, look.path = look.head.replace(look.path, path), path


def _look_entries(
    looks: Sequence[Look],
    state: WorkState,
    moments: Sequence[Moment],
    request: int,
    spoke: int,
    known: set[str],
    given: str,
) -> Iterator[Entry]:
    edits = max((each.last for each in state.files.values()), default=-1)
    said = [each for each in moments if isinstance(each, Message)]
    asked = " ".join(each.text for each in said if is_person(each) and each.turn >= request)
    words = " ".join(each.text for each in said[-LAST_MESSAGES:] if each.voice is Voice.AGENT)
    focus = _focus(looks, state, f"{asked} {words}")
    behind = 0
    pointed = pointed_to(looks, moments)
    for at, look in enumerate(pointed):
        told = partial(_asked_forms, look)
        if next(told(), None):
            yield Entry(WORTH_ASKED - at, look.turn, LOOKED_TITLE, told)
    asking = [look for look in pointed if next(_asked_forms(look), None)]
    for look in reversed(looks):
        if look in asking:
            continue
        changed = _changed_after(look, state)
        is_done = look.checks and not (look.failed and look.turn > edits)
        if is_done or _is_told(look, known, given):
            continue
        worth = 1.0 / (1 + FADING * behind)
        if behind == 0 and look.turn > edits:
            worth *= 2
        if look.turn > max(spoke, edits):
            worth *= 1.4
        name = look.path.rpartition("/")[2]
        named = bool(name) and (name in asked or _is_edited(look.path, state))
        prints = look.way is Way.COMMAND and _PRINTS.match(look.head) is not None
        if prints and _names_one(look.head, asked):
            named, worth = True, max(worth, WORTH_NAMED)
        if named or (name and name in words):
            worth *= 1.4
        if look.way is Way.READ:
            worth *= 0.3 if changed or _OUTSIDE.match(look.path) else 1.4
        if look.way is Way.SEARCH:
            worth *= 0.8
        if _HELP.search(look.head):
            worth *= 0.4
        if look.way is Way.REPORT:
            worth *= 1.3
        if look.turn < request:
            worth *= 0.4
        whole = not changed and (named or behind < 4 or look.turn > max(spoke, edits))
        told = partial(_forms, look, state, focus, whole=whole, changed=changed)
        yield Entry(worth, look.turn, LOOKED_TITLE, told)
        behind += 1


_OUTSIDE = re.compile(r"/|~|[A-Za-z]:[/\\]")
"""Paths outside the folder of the work, such as the instructions of skills."""
_HELP = re.compile(r"\s(?:--help|-h)\b|`man |<<")
"""Commands that print what can be looked up, or that are not seen whole."""
_PRINTS = re.compile(r"(?:Ran|Read) `?(?:cat|head|sed -n|nl|bat|less)\b")
WORTH_ASKED = 6.0
"""What the first of the files is worth to which the request points."""
WORTH_NAMED = 1.3
"""What a file is worth at least that the person names."""
_A_PATH = re.compile(r"(?<![\w./~-])[\w./~-]{0,300}\.\w{1,8}")


def _names_one(command: str, asked: str) -> bool:
    """Whether a command names a file that the person names too."""
    return any(found.rpartition("/")[2] in asked for found in _A_PATH.findall(command))


def _is_told(look: Look, known: set[str], given: str) -> bool:
    """Whether the hand-over has most of what was found."""
    if len(look.rows) <= FEW_ROWS and all(
        text.strip() in given or text.strip() in look.head for text in look.texts
    ):
        return True
    lines = [
        text
        for text in look.texts
        if sum(map(str.isalnum, text)) > 3
        and not _HEADS_A_FILE.match(text)
        and not _ENDS_CODE.match(text)
    ]
    return _share_known(lines, known) >= SAID_BEFORE


_ENDS_CODE = re.compile(r"\s*(?:return(?: (?:nil|None|null|true|false|err))?;?|end|pass|break;?)$")
"""The last line of a function, which does not say which one it ends."""


def _share_known(lines: Sequence[str], known: set[str]) -> float:
    telling = [_plain(line) for line in lines]
    telling = [line for line in telling if line]
    return sum(line in known for line in telling) / len(telling) if telling else 1.0


def _file_of(path: str, state: WorkState) -> File | None:
    for known in state.by_name.get(path.rpartition("/")[2], ()):
        if known == path or known.endswith(f"/{path}") or path.endswith(f"/{known}"):
            return state.files.get(known)
    return None


def _is_edited(path: str, state: WorkState) -> bool:
    return _file_of(path, state) is not None


def _changed_after(look: Look, state: WorkState) -> bool:
    """Whether the file that was read was changed after it was read."""
    if look.way is not Way.READ:
        return False
    file = _file_of(look.path, state)
    return file is not None and file.last > look.turn


def _forms(
    look: Look, state: WorkState, focus: Focus, *, whole: bool, changed: bool
) -> Iterator[str]:
    """What was found, at several lengths, the longest first."""
    rows = _masked(look.rows)
    if look.way is Way.READ:
        yield from _read_forms(look, rows, focus, whole=whole, changed=changed)
    elif look.way is Way.SEARCH:
        yield from _hit_forms(look, [text for _, text in rows], state)
    else:
        texts = [text for _, text in rows]
        if len(texts) <= 2:
            yield f"- {look.head}: {' | '.join(' '.join(text.split()) for text in texts)}"
            return
        if whole and len(texts) <= WHOLE_LINES:
            yield _fenced(f"{look.head}:", texts)
        shaped = sum(text[:1] in _SHAPED for text in texts)
        if _PRINTS.match(look.head) or shaped > len(texts) * MOSTLY:
            yield from _cut_forms(look.head, texts, "")
            return
        for most in (*CUTS, FEWEST):
            if most <= len(texts):
                yield _fenced(f"{look.head} ({len(texts)} lines):", list(decisive(rows, most)))


def _asked_forms(look: Look) -> Iterator[str]:
    """What a file asks for to which the request points, at several lengths."""
    for head, lines in asked_forms(look, [text for _, text in _masked(look.rows)]):
        yield _fenced(head, lines)


def room_for_asked(
    moments: Sequence[Moment], tail: Tail, most: int, count: Callable[[str], int]
) -> int:
    """Tokens that the files need to which the request points, at most `most`; 0 for no files."""
    forms = [list(_asked_forms(look)) for look in pointed_to(looks_of(tail), moments)]
    costs = [count(f"{each[0]}\n\n") for each in forms if each]
    return min(sum(costs) + TITLES, most) if costs else 0


def _masked(rows: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Lines without secrets, also those that span several lines."""
    texts = mask("\n".join(text for _, text in rows)).text.split("\n")
    if len(texts) != len(rows):
        return [(0, text) for text in texts]
    return [(number, text) for (number, _), text in zip(rows, texts, strict=True)]


def _read_forms(
    look: Look, rows: Sequence[tuple[int, str]], focus: Focus, *, whole: bool, changed: bool
) -> Iterator[str]:
    where = span(rows)
    size = f"{len(rows)} lines" if look.whole else where or f"{len(rows)} lines of it"
    head = f"{look.head} ({size}{', changed since' if changed else ''})"
    texts = _dedented([text for _, text in rows])
    if whole and len(rows) <= WHOLE_LINES:
        yield _fenced(f"{head}:", texts, _language(look.path))
    found = [(indent, number, text) for number, indent, text in definitions(look)]
    defined = {number for _, number, _ in found}
    if where:
        marked = [
            (rank, number, cut(text, KEY_CHARS).text.replace("`", "'"))
            for number, text in rows
            if number not in defined and (rank := focus.rank(text)) >= 0
        ]
        few = sum(rank == NAMED for rank, _, _ in marked) <= TELLING_SHARE * len(rows)
        found += [each for each in marked if few or each[0] == FIRST]
    if whole and len(found) < (FEW_FOUND if len(rows) <= WHOLE_LINES else 1):
        yield from _cut_forms(head, texts, _language(look.path))
    found.sort(key=lambda each: each[0])
    for most in MOST_DEFINED if found else ():
        names = "; ".join(
            f"{number} `{mask(text).text.strip()}`" if where else f"`{mask(text).text.strip()}`"
            for _, number, text in sorted(found[:most], key=lambda each: each[1])
        )
        more = f"; and {len(found) - most} more" if len(found) > most else ""
        yield f"- {head}: {names}{more}"
    if whole:
        yield f"- {head}"


class Focus(Struct):
    """The names that the work is about at the end, and those that edits have taken out."""

    names: re.Pattern[str] | None
    gone: re.Pattern[str] | None

    def rank(self, text: str) -> int:
        """How a line ranks among definitions, which rank by their indents; -1 for no line to show:
        first come those with a name that was taken out elsewhere.
        """
        if self.gone is not None and self.gone.search(text):
            return FIRST
        return NAMED if self.names is not None and self.names.search(text) else -1


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{4,60}")
_NAME = re.compile(r"`([A-Za-z_][\w.]{3,60})(?:\(\))?`|\b([a-z]+[A-Z]\w{2,60}|[a-z]\w*_\w{2,60})\b")
MOST_FOCUS = 24
FIRST, NAMED = 0, 5
TELLING_SHARE = 0.15
"""Share of the lines of a file up to which a name tells them from others."""
LAST_SEARCHES = 6


def _focus(looks: Sequence[Look], state: WorkState, words: str) -> Focus:
    """What edits have taken out, what was searched for last, what the last words name."""
    removed: Counter[str] = Counter()
    kept: set[str] = set()
    for file in state.uncommitted:
        kept.update(*(_WORD.findall(piece.text) for piece in file.new.pieces))
        removed.update(word for line in file.new.removed for word in set(_WORD.findall(line)))
    gone = [word for word, times in removed.items() if times > 1 and word not in kept]
    names: dict[str, None] = {}
    searches = [look for look in looks if look.way is Way.SEARCH][-LAST_SEARCHES:]
    for look in searches:
        sought = _QUOTED.search(look.head)
        names.update(dict.fromkeys(_WORD.findall(sought[1]) if sought else ()))
    for found in _NAME.finditer(words):
        names[(found[1] or found[2]).rpartition(".")[2]] = None
    return Focus(_any_of(names), _any_of(gone))


def _any_of(names: Iterable[str]) -> re.Pattern[str] | None:
    kept = [re.escape(name) for name in names if len(name) > LEAST_NAME][-MOST_FOCUS:]
    return re.compile("|".join(kept)) if kept else None


_QUOTED = re.compile(r"Searched for `([^`]+)`")
LEAST_NAME = 3


_SHAPED = frozenset(" \t+-")
"""How lines of code and of a difference begin, of which only the first ones are understood."""
MOSTLY = 0.6
_HIT = re.compile(r"((?:[\w.@~-]*[/\\])*[\w.@-]+\.\w{1,8})(?::|$)")


_CONTEXT = re.compile(r"(?:(?:[\w.@~-]*[/\\])*[\w.@-]+\.\w{1,8})?-?\d+-")
"""A line beside a hit, as searches show it."""
_OF_TESTS = re.compile(r"(?:^|/)tests?/|[._]test\.|[._]spec\.|(?:^|/)test_")


def _hit_forms(look: Look, texts: Sequence[str], state: WorkState) -> Iterator[str]:
    """What a search has found, first in the files that were not changed after it."""
    lines = [" ".join(text.split()) for text in texts if text.strip() and text.strip() != "--"]
    lines = [line for line in lines if not _CONTEXT.match(line)] or lines
    kept = [line if len(line) <= HIT_CHARS else f"{line[:HIT_CHARS]} …" for line in lines]
    ranked: list[tuple[int, str]] = []
    for line in kept:
        hit = _HIT.match(line)
        file = _file_of(hit[1], state) if hit else None
        is_done = file is not None and file.last > look.turn
        ranked.append((2 * is_done + bool(hit and _OF_TESTS.search(hit[1])), line))
    ordered = [line for _, line in sorted(ranked, key=lambda each: each[0])]
    if len(ordered) <= 2:
        yield f"- {look.head}: {' | '.join(ordered)}"
        return
    names = all(":" not in line for line in ordered)
    for most in (2 * MOST_HITS, MOST_HITS, 4):
        rest = len(ordered) - most
        if names:
            more = f" and {rest} more" if rest > 0 else ""
            yield f"- {look.head}: {', '.join(ordered[:most])}{more}"
        else:
            most += rest == 1
            shown = ordered[:most] + ([f"... ({rest} more lines)"] if rest > 1 else [])
            yield _fenced(f"{look.head} ({len(ordered)} lines):", shown)


# Text between fences

_LANGUAGES = {
    "py": "python",
    "ts": "ts",
    "tsx": "tsx",
    "js": "js",
    "jsx": "jsx",
    "mjs": "js",
    "rs": "rust",
    "rb": "ruby",
    "sh": "sh",
    "bash": "sh",
    "yml": "yaml",
    "md": "markdown",
    "kt": "kotlin",
    "cs": "csharp",
    "h": "c",
    "hpp": "cpp",
    "cc": "cpp",
}
_LANGUAGE = re.compile(r"[a-z]{1,8}")
_TICKS = re.compile(r"`{3,}")


def _language(path: str) -> str:
    ending = short_path(path, ()).rpartition(".")[2].lower()
    found = _LANGUAGES.get(ending, ending)
    return found if _LANGUAGE.fullmatch(found) else ""


def _fenced(head: str, lines: Sequence[str], language: str = "") -> str:
    """Lines between fences that are longer than any of their own."""
    text = "\n".join(lines)
    longest = max((len(found) for found in _TICKS.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{head}\n{fence}{language}\n{text}\n{fence}"


def _cut_forms(head: str, lines: Sequence[str], language: str, first: int = 0) -> Iterator[str]:
    """The lines, and several numbers of them from the first one that matters."""
    if len(lines) <= WHOLE_LINES:
        yield _fenced(f"{head}:", lines, language)
    for most in CUTS:
        if most + 1 < len(lines):
            start = max(0, min(first, len(lines) - most))
            before = [f"... ({start} lines before)"] if start else []
            rest = len(lines) - most - start
            after = [f"... ({rest} more lines)"] if rest else []
            yield _fenced(f"{head}:", [*before, *lines[start : start + most], *after], language)
