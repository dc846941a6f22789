"""Search for the memories of a moment, in plain SQL.

Runs in a hook at an agent's call: imports the standard library and modules that are loaded anyway.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import log

from reviewer.recall.uses import QUOTED, TEXT, WORD
from reviewer.store.disputed import IS_DISPUTED
from reviewer.text.stop_words import SPEECH_STOP_WORDS as FUNCTION_WORDS

MIN_SCORE = 1.65
"""The minimum score for a memory found by words alone; a word unique to one memory scores 1."""
GROWTH = 0.4
"""The minimum grows with the words in the text to this power: long texts match more by chance, and
a wrong memory at a call is worse than none."""
FAILURE_FACTOR = 0.8
"""The growth of the minimum for a failure, as a share of that for a prompt."""
MIN_SHARE = 0.6
"""The minimum score of a further memory, as a share of the best."""
NAME_WEIGHT = 2.0
"""Weight of an identifier; a plain word weighs 1. Identifiers rarely match by chance."""
FEW = 3
"""Of so many memories or fewer, bm25 takes any word to be a common one."""
COMMON_SHARE, MAX_MATCHES = 5, 70
"""A word is ignored if more than one memory in COMMON_SHARE, or more than MAX_MATCHES, have it."""
MAX_WORDS, MAX_SCORED = 64, 12
"""Words of a text that are looked up; the rarest of them that are scored."""
STEM_CHARS = 4
"""Words that share their first letters count once for a memory: `expect`, `expected`."""
LONGEST_TEXT, LONGEST_SEARCHED = 40_000, 6_000
"""Characters of an output or prompt that are read; those that are searched for words."""

BY_SIGNATURE, BY_TRIGGER = 100.0, 50.0
"""Scores of memories found by a signature or a trigger."""

_WORD = re.compile(r"\w[\w./:-]{0,79}(?<=\w)|\w")
_UNQUOTED = re.compile(r"[^\s\"'`;&|()<>]+")
_PLAIN_WORD = re.compile(r"\w+")
_WORD_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]{2,}")
_NAME = re.compile(r"[a-z0-9][A-Z]|[\w)][._/:]\w|\w-\w+-\w|\d[A-Za-z]|[A-Za-z]\d")


class Recalled:
    def __init__(self, number: int, content: str, why: str, score: float) -> None:
        self.id, self.content, self.why, self.score = number, content, why, score


class Cue:
    """The search terms of a moment.

    `kind`: `command`, `error`, `path`, `prompt` or `guard`. `commands`: program and subcommand of
    each part of a shell line; `signatures`: of a failure, including a linter's bare rule;
    `output`: the complete output of a failed call; `tool`: the tool's name in the agent; `line`:
    the shell line as run; `root`: the folder outside of which an absolute path matches as a whole.
    """

    def __init__(
        self,
        kind: str,
        text: str,
        commands: tuple[str, ...] = (),
        paths: tuple[str, ...] = (),
        signatures: tuple[str, ...] = (),
        output: str = "",
        tool: str = "",
        line: str = "",
        root: str = "",
    ) -> None:
        self.kind, self.text, self.output, self.tool = kind, text, output, tool
        self.line, self.root = line, root
        self.commands, self.paths, self.signatures = commands, paths, signatures

    @property
    def key(self) -> str:
        """The part that is stored; without text from outside, which might contain a secret."""
        return "\n".join((*self.commands, *self.signatures))


_HAS = "instr(char(10) || m.moments || char(10), char(10) || '{}' || char(10))"
IS_LEFT_OUT, IS_PINNED = _HAS.format("only"), _HAS.format("pinned")
"""Whether a row `m` of `memory` is left out of packets, or first in them, in SQL."""
_IS_UNPROMPTED, _IS_ALWAYS = _HAS.format("unprompted"), _HAS.format("always")

_Tied = tuple[int, str, str]
"""A memory, its content, and the value of one of its moments."""

_MOMENT = "EXISTS (SELECT 1 FROM moment WHERE memory_id = m.id AND kind"
_ACTIVE = (
    f"m.status = 'active' AND m.kind <> 'conflict' AND m.project_id = ? AND {_MOMENT} = '{TEXT}')"
)
"""Only rows with a text for agents, so that no others take their place."""
_RECALLABLE = (
    f"SELECT m.content FROM memory m WHERE m.id = ? AND {_ACTIVE} AND NOT {_IS_ALWAYS}"
    f" AND NOT {_IS_UNPROMPTED} AND NOT {IS_DISPUTED}"
)
CALLS = ("command", "edit", "guard", "tool", "words")
"""Moments that only a person chooses: beside them, the words of a memory recall it at a prompt but
not at a failure, which is another than the chosen one."""
_RECALLABLE_AT_FAILURE = f"{_RECALLABLE} AND NOT {_MOMENT} IN {CALLS})"


def recall(
    store: sqlite3.Connection,
    project: int,
    cue: Cue,
    *,
    limit: int,
    by_line: int,
    known: Collection[int] = (),
) -> list[Recalled]:
    """The memories that belong to a moment, best first: by signature, by trigger, then by rare
    words. `by_line`: maximum found by the words of a prompt, or of each line of a failure, without
    those `known`.
    """
    _snapshot = store.execute("SELECT 1 FROM memory")  # one transaction for all that is read
    found: dict[int, Recalled] = {}
    commands, paths = _with_programs(cue.commands), _path_ends(cue)
    recallable = _RECALLABLE if cue.kind == "prompt" else _RECALLABLE_AT_FAILURE
    for memory in (
        *_triggered(store, project, "error", cue.signatures, "this failure", BY_SIGNATURE),
        *(_by_quotation(store, project, cue) if cue.output else ()),
        *_triggered(store, project, "command", commands, "command"),
        *_triggered(store, project, "tool", [cue.tool] if cue.tool else [], "tool"),
        *_triggered(store, project, "path", paths, "path"),
        *edits_at(store, project, cue),
        *(guards_at(store, project, cue) if cue.kind != "error" else ()),
        *(_by_command_word(store, project, cue.text) if cue.kind == "prompt" else ()),
        *_by_chosen_words(store, project, cue.output or cue.text),
        *_by_words(store, project, cue, by_line, recallable, known),
    ):
        if memory.id not in found or memory.score > found[memory.id].score:
            found[memory.id] = memory
    if cue.kind == "prompt":
        for number in _unprompted(store, found):
            del found[number]
    best = sorted(found.values(), key=lambda memory: (-memory.score, -memory.id))
    times: Counter[str] = Counter()

    def turn(memory: Recalled) -> int:
        """A call may report several failures: one memory for each, then the second for each."""
        times[memory.why] += 1
        return times[memory.why] if memory.score >= BY_SIGNATURE else len(found) + 1

    return sorted(best, key=turn)[:limit]


def _unprompted(store: sqlite3.Connection, memories: Iterable[int]) -> list[int]:
    """The memories that are never handed out with a prompt."""
    rows = store.execute(
        f"SELECT m.id FROM json_each(?) j JOIN memory m ON m.id = j.value WHERE {_IS_UNPROMPTED}",
        (json.dumps(list(memories)),),
    )
    return [number for (number,) in rows]


def guards_at(store: sqlite3.Connection, project: int, cue: Cue) -> list[Recalled]:
    """The memories that guard a call, newest first; those for certain flags only if it has them."""
    values = {*_with_programs(cue.commands), *_path_ends(cue)}
    words = set(_UNQUOTED.findall(cue.line))
    found: dict[int, _Tied] = {}
    for row in _tied(store, project, "t.kind = 'guard'"):
        guarded, *flags = [row[2]] if "/" in row[2] else row[2].split(" -")
        if guarded in values and words.issuperset(f"-{flag}" for flag in flags):
            found[row[0]] = row
    return _recalled(found.values(), "guard")


def edits_at(store: sqlite3.Connection, project: int, cue: Cue) -> list[Recalled]:
    """The memories for an edit of a file, newest first."""
    return _triggered(store, project, "edit", _path_ends(cue), "edit")


def call_triggers_of(store: sqlite3.Connection) -> tuple[str, ...]:
    """The chosen guards, commands, edits and tools, as `guard git push`, and the commands in which
    a memory's failure occurred: a pipe may hide that they fail again.
    """
    rows = store.execute("SELECT moments FROM memory WHERE status = 'active' AND moments <> ''")
    chosen = {moment for (moments,) in rows for moment in moments.split("\n")}
    failing = store.execute(
        "SELECT DISTINCT 'command ' || f.command FROM moment t CROSS JOIN memory m"
        " ON m.id = t.memory_id CROSS JOIN finding f ON f.project_id = m.project_id"
        " AND f.kind = 'failure' AND f.signature >= t.value AND f.signature < t.value || ':!'"
        " AND substr(f.signature, length(t.value) + 1, 2) IN ('', ': ')"  # that, or of that rule
        " WHERE t.kind = 'error' AND m.status = 'active' AND f.command <> ''"
    )
    return tuple(
        sorted(
            {
                each for each in chosen if each.startswith(("guard ", "command ", "edit ", "tool "))
            }.union(command for (command,) in failing)
        )
    )


def command_moments(store: sqlite3.Connection, project: int) -> list[_Tied]:
    """The commands and guards chosen for memories."""
    return _tied(store, project, "t.kind IN ('command', 'guard')")


def _by_command_word(store: sqlite3.Connection, project: int, prompt: str) -> list[Recalled]:
    """The memories for whose command a prompt has a word: `git push` by the word push."""
    tied = command_moments(store, project)
    words = {word.lower() for word in words_of(prompt)} if tied else ()
    named = (row for row in tied if row[2].partition(" -")[0].rpartition(" ")[2] in words)
    return _recalled(named, "names")


def _with_programs(commands: Iterable[str]) -> list[str]:
    """Each command with all its subcommands, then with fewer, down to the program alone."""
    found: dict[str, None] = {}
    for command in commands:
        while command:
            found[command] = None
            command = command.rpartition(" ")[0]
    return list(found)


def _path_ends(cue: Cue) -> list[str]:
    """Every end of a path, and of the folders above it, and of a folder itself, with a trailing
    slash. A name may be a folder's without its slash, but not a single word: `client/server`.
    """
    found: dict[str, None] = {}
    for path in cue.paths:
        elsewhere = path.startswith("/") and not path.startswith(f"{cue.root}/")
        steps = [step for step in path.replace("\\", "/").split("/") if step][-12:]
        for end in range(len(steps), 0, -1):
            for begin in range(1 if elsewhere else end):
                place = "/".join(steps[begin:end])
                if end == len(steps):
                    found[place] = None
                if end < len(steps) or path.endswith("/") or "/" in place:
                    found[f"{place}/"] = None
    return list(found)


def _triggered(
    store: sqlite3.Connection,
    project: int,
    kind: str,
    values: Sequence[str],
    why: str,
    score: float = BY_TRIGGER,
) -> list[Recalled]:
    marks = ", ".join("?" * len(values))
    where = f"t.kind = ? AND t.value IN ({marks})"
    return _recalled(_tied(store, project, where, kind, *values) if values else (), why, score)


def _by_chosen_words(store: sqlite3.Connection, project: int, text: str) -> list[Recalled]:
    """The memories whose chosen words all occur in a text, as whole words."""
    rows = _tied(store, project, "t.kind = 'words'")
    words = set(_PLAIN_WORD.findall(text.lower())) if rows else set()
    return _recalled(
        (row for row in rows if words.issuperset(_PLAIN_WORD.findall(row[2].lower()))), "words"
    )


def _by_quotation(store: sqlite3.Connection, project: int, cue: Cue) -> list[Recalled]:
    """The memories whose chosen quotations of a failure occur in its output, as whole words."""
    said = "\n".join((cue.output, *cue.signatures)).lower()
    rows = _tied(store, project, "t.kind = ? AND instr(?, t.value)", QUOTED, said)
    # Only ASCII words have ends: other scripts may have no spaces, and signs stand anywhere.
    whole = (row for row in rows if re.search(rf"(?a)(?!\B\w){re.escape(row[2])}(?<!\w\B)", said))
    return _recalled(whole, "this failure", BY_SIGNATURE)


def _tied(store: sqlite3.Connection, project: int, where: str, *values: str) -> list[_Tied]:
    """The memories with certain moments `t`, newest first."""
    # CROSS JOIN makes SQLite start with the few moments, not with the memories.
    return store.execute(
        "SELECT m.id, m.content, t.value FROM moment t CROSS JOIN memory m ON m.id = t.memory_id"
        f" WHERE {where} AND {_ACTIVE} AND (t.kind = 'guard' OR NOT {IS_DISPUTED})"
        " ORDER BY m.id DESC",
        (*values, project),
    ).fetchall()


def _recalled(rows: Iterable[_Tied], why: str, score: float = BY_TRIGGER) -> list[Recalled]:
    return [
        Recalled(number, content, f"{why} {value}", score + len(value) / 1_000)
        for number, content, value in rows
    ]


def _by_words(
    store: sqlite3.Connection,
    project: int,
    cue: Cue,
    most: int,
    recallable: str,
    known: Collection[int],
) -> Iterator[Recalled]:
    """The memories found by the words of a text; for a failure, at most `most` for each line."""
    if not cue.text:
        return
    # Of all projects, as in the index: bm25 and frequencies are of all projects, too.
    (count,) = store.execute("SELECT count(*) FROM recall_text_docsize").fetchone()
    count = max(count, FEW)
    few = min(max(count // COMMON_SHARE, FEW), MAX_MATCHES)
    rules = _rules(cue.signatures)
    lines = cue.text.splitlines() if cue.signatures else [cue.text]
    (name,) = store.execute("SELECT name FROM project WHERE id = ?", (project,)).fetchone()
    own = set(words_of(name.lower()))  # the project's own name is in every path
    own |= FUNCTION_WORDS  # which are rare, too, in a small store
    words = {line: [each for each in words_of(line) if each.lower() not in own] for line in lines}
    looked_up = {word.lower() for line in lines for word in words[line]}
    called = {word.lower() for word in _WORD.findall(cue.line[:LONGEST_SEARCHED])[:MAX_WORDS]}
    frequency = _frequencies(store, few, looked_up | called)
    called &= frequency.keys()
    rarest = {line: _rarest(words[line], frequency) for line in lines}
    having = _scores(store, count, {word.lower() for line in lines for word in rarest[line]})

    for line in lines:
        length = len(words[line]) if len(words[line]) < MAX_WORDS else len(line.split())
        expected = length**GROWTH * (1.0 if cue.kind == "prompt" else FAILURE_FACTOR)
        least = _rarity(count, 1) * max(MIN_SCORE, expected)
        matches = _matches(rarest[line], having)
        sums: dict[int, float] = {}
        for word, scores in matches.items():
            weight = NAME_WEIGHT if _NAME.search(word) else 1.0
            ruled = least if word.lower() in rules else 0.0
            for number, score in scores.items():
                if number not in known:
                    sums[number] = sums.get(number, 0.0) + weight * score + ruled
        top = max(sums.values(), default=0.0)
        if top < least:
            continue
        recalled = 0
        for number in sorted(sums, key=lambda each: (sums[each], each), reverse=True):
            if sums[number] < top * MIN_SHARE or recalled == most:
                break
            row = store.execute(recallable, (number, project)).fetchone()
            shared = [word for word, scores in matches.items() if number in scores]
            if row is None or (cue.line and not _is_about(row[0], shared, rules, called)):
                continue
            recalled += 1
            why = f"words {', '.join(shared[:6])}".lower()
            yield Recalled(number, row[0], why, sums[number])


def _matches(
    words: Iterable[str], having: Mapping[str, dict[int, float]]
) -> dict[str, dict[int, float]]:
    """The words with the memories that have them. A memory counts once for words that share their
    first letters, for the first of them.
    """
    counted: set[tuple[str, int]] = set()
    found: dict[str, dict[int, float]] = {}
    for word in words:
        stem, scores = word[:STEM_CHARS].lower(), having[word.lower()]
        found[word] = {each: score for each, score in scores.items() if (stem, each) not in counted}
        counted.update((stem, each) for each in scores)
    return found


def _is_about(
    memory: str, shared: Sequence[str], rules: Collection[str], called: Collection[str]
) -> bool:
    """Whether a memory that shares words with the output of a call is about that call: one of them
    is a name, or a linter's rule beside another word, or the memory has a word of the call. Plain
    words match by chance, and so do rules such as `unused`.
    """
    ruled = len(shared) > 1 and any(word.lower() in rules for word in shared)
    if ruled or any(map(_NAME.search, shared)):
        return True
    return any(word.lower() in called for word in words_of(memory))


def _rules(signatures: Sequence[str]) -> set[str]:
    """The linter rules at the head of a message. A rule alone is an ordinary word."""
    ruled = [signature.partition(": ")[0] for signature in signatures if ": " in signature]
    return {
        signature.lower()
        for signature in signatures
        if " " not in signature and any(signature in before for before in ruled)
    }


def _rarest(words: Iterable[str], frequency: Mapping[str, int]) -> list[str]:
    counted = ((frequency.get(word.lower(), 0), word) for word in words)
    return [word for _, word in sorted(each for each in counted if each[0])[:MAX_SCORED]]


def _frequencies(store: sqlite3.Connection, most: int, words: Iterable[str]) -> dict[str, int]:
    """How many memories have a word, alone or inside a name, for the words that at least one and at
    most `most` have.
    """
    alone = "SELECT rowid FROM recall_text WHERE recall_text MATCH '\"' || w.value || '\"' LIMIT ?1"
    in_name = "SELECT memory_id FROM moment WHERE kind = ?2 AND value = w.value LIMIT ?1"
    rows = store.execute(  # few words are in names, and a union costs
        f"SELECT w.value, CASE WHEN EXISTS ({in_name}) THEN"
        f" (SELECT count(*) FROM (SELECT * FROM ({alone}) UNION SELECT * FROM ({in_name})))"
        f" ELSE (SELECT count(*) FROM ({alone})) END FROM json_each(?3) w",
        (most + 1, WORD, json.dumps(list(words))),
    )
    return {word: number for word, number in rows if 0 < number <= most}


def _rarity(count: int, having: int) -> float:
    """The weight of a word that so many of `count` memories have, as in bm25."""
    return max(0.0, log((count - having + 0.5) / (having + 0.5)))


def _scores(
    store: sqlite3.Connection, count: int, words: Iterable[str]
) -> dict[str, dict[int, float]]:
    """The memories that have a word, alone or inside a name, with its weight, for each word."""
    found: dict[str, dict[int, float | None]] = {word: {} for word in words}
    rows = store.execute(  # names first: a word that also occurs alone gets the weight of that
        "SELECT w.value, t.memory_id, NULL FROM json_each(?1) w CROSS JOIN moment t"
        " ON t.kind = ?2 AND t.value = w.value UNION ALL"
        " SELECT w.value, r.rowid, -bm25(recall_text) FROM json_each(?1) w"
        " CROSS JOIN recall_text r ON r.recall_text MATCH '\"' || w.value || '\"'",
        (json.dumps(list(found)), WORD),
    )
    for word, number, score in rows:
        found[word][number] = score
    return {
        word: {
            number: score if score is not None and count > FEW else _rarity(count, len(scores))
            for number, score in scores.items()
        }
        for word, scores in found.items()
    }


def readable(text: str) -> str:
    """The beginning and end of a long text, without halves of characters."""
    return without_halves(_ends(text, LONGEST_TEXT))


def without_halves(text: str) -> str:
    """A text whose half surrogates, left by agents that cut texts, are question marks."""
    return text.encode("utf-8", "replace").decode()


def _ends(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-most // 2 :]}"


def words_of_names(text: str) -> list[str]:
    """The lower-case words inside the names of a text: session, grace and period for
    `sessionGracePeriod`.
    """
    found: dict[str, None] = {}
    for match in _WORD.finditer(text):
        words = _WORD_OF_NAME.findall(match[0]) if _NAME.search(match[0]) else ()
        if len(words) > 1 and "/" not in match[0]:
            found.update(dict.fromkeys(word.lower() for word in words if len(word) > 2))
    return list(found)


def words_of(text: str) -> list[str]:
    """The distinct words of a text that may tell memories apart, as spelled, and the words inside
    its names.
    """
    found: dict[str, str] = {}
    for match in _WORD.finditer(text := _ends(text, LONGEST_SEARCHED)):
        word = match[0]
        if len(word) > 1 and not word.replace(".", "").replace(":", "").isdigit():
            found.setdefault(word.lower(), word)
            if len(found) == MAX_WORDS:
                return list(found.values())
    for word in words_of_names(text):
        found.setdefault(word, word)
    return list(found.values())[:MAX_WORDS]
