"""What the readers of agents' sessions yield, and what they read it with.

A family of agents needs one function that yields the turns of a file; positions, damage, repeated
turns and tallies are the same for all and are dealt with here.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from reviewer.clock import iso, written_moment
from reviewer.sources.claude_words import classify
from reviewer.sources.events import Origin, Rewind
from reviewer.sources.json_values import fields, first_byte, items, json_pieces
from reviewer.sources.lines import BLOCK, TextForm, read_lines, reading
from reviewer.sources.note_lines import NoteLine
from reviewer.sources.records import BlockKind, Role, Use
from reviewer.sources.source import Source
from reviewer.sources.tool_text import input_text, part_text

Fields: TypeAlias = dict[str, object]
"""A decoded JSON object."""
Line = TypeVar("Line")

RECORDED_TWICE = "recorded twice"
"""The reason under which the second place of the same words is counted."""
SESSION_STATE = "state of the session"
OLDER_THAN_SECONDS = 1e11
"""Numbers above this are milliseconds since 1970, not seconds."""
COUNTED_BLOCK = 1 << 14
TEXT_LINE_LIMIT = 1_000_000
"""Maximum bytes of a line of text; a longer one is data, not something that was written."""
ODD_ESCAPE = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u(?:(?![0-9a-fA-F]{4})"
    rb"|[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F][0-9a-fA-F]{2})"
)
"""Escapes that are cut, and halves of surrogate pairs: collectors that mask strings leave them."""


class Spot(Struct, frozen=True, gc=False):
    """The place of a turn: 0-based half-open lines and bytes, and the bytes themselves.

    In a database or an archive `line_start` counts rows, and `byte_start` equals `byte_end`.
    """

    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    raw: bytes | memoryview


class Part(Struct, frozen=True, gc=False):
    """One block of a turn. Without a `use` it is what its kind and the turn's role suggest."""

    kind: BlockKind
    text: str
    use: Use | None = None
    name: str = ""
    call: str = ""
    error: bool = False
    code: int | None = None
    """The exit code, where the format keeps it apart."""
    feedback: str = ""
    """What the person wrote when refusing the call."""
    is_data: bool = False
    """A picture or document, of which `text` has only the name."""


class Turn(Struct, frozen=True, kw_only=True, gc=False):
    """One message of a session. `key` is its own id in the format, where it has one."""

    spot: Spot
    role: Role
    parts: list[Part]
    key: str = ""
    at: str | None = None
    session: str | None = None
    parent: str | None = None
    sidechain: bool = False
    rewound: bool = False
    cwd: str = ""
    branch: str = ""
    model: str = ""
    version: str = ""
    reply: str = ""
    """The id that the blocks of one reply share, where a format writes each block as a turn."""
    queued: bool = False
    """Typed while the agent was busy."""
    conversation: int = 0
    """Tells the conversations of a file apart that have no session."""

    @property
    def digest(self) -> str:
        """The sha256 of its bytes, in hex."""
        return hashlib.sha256(self.spot.raw).hexdigest()

    def origin(self) -> Origin:
        """The record that events of this turn come from."""
        digest = self.digest
        return Origin(
            key=self.key or f"sha256:{digest}",
            line_start=self.spot.line_start,
            line_end=self.spot.line_end,
            byte_start=self.spot.byte_start,
            byte_end=self.spot.byte_end,
            sha256=digest,
            at=self.at,
            session=self.session,
            parent=self.parent,
            sidechain=self.sidechain,
            cwd=self.cwd,
            branch=self.branch,
            model=self.model,
            version=self.version,
            reply=self.reply,
            queued=self.queued,
            conversation=self.conversation,
        )


class Reading:
    """One file while it is read: its lines or its document, its tally and its damage."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.path = source.path
        self.form = source.form
        self.document = source.document
        self.tally: Counter[str] = Counter()
        self.errors: list[str] = []

    def objects(self) -> Iterator[tuple[Spot, Fields]]:
        """Every JSON object of a file with one object a line, with its place."""
        for spot, value in self.lines(_any_value, _is_object):
            if isinstance(value, dict):
                yield spot, value
            else:
                self.tally["not a record"] += 1

    def lines(
        self, decode: Callable[[bytes], Line], is_whole: Callable[[Line], bool]
    ) -> Iterator[tuple[Spot, Line]]:
        """Every line of a file, decoded, with its place; damage is counted and reported.

        `decode` raises ValueError or RecursionError for what it cannot read. Of a damaged line, the
        intact pieces that are `is_whole` are yielded.
        """
        tally, errors, form = self.tally, self.errors, self.form
        recoded = form.encoding != "utf-8"
        with reading(self.path) as stream:
            for number, start, raw in read_lines(stream, form):
                if raw is None:
                    tally["line over 32 MB"] += 1
                    errors.append(f"line {number + 1}: longer than 32 MB, skipped")
                    continue
                if not raw or raw.isspace():
                    continue
                data = form.utf8(raw) if recoded else raw
                try:
                    value = decode(data)
                except RecursionError:
                    tally["nested too deep"] += 1
                    errors.append(f"line {number + 1}: nested too deep to read")
                    continue
                except ValueError:
                    try:
                        value = mended(decode, data, tally)
                    except (ValueError, RecursionError):
                        tally["bad JSON"] += 1
                        errors.append(f"line {number + 1}: not a JSON record")
                        if not recoded:  # positions of pieces are known in UTF-8 only
                            spot = Spot(number, number + 1, start, start + len(raw), raw)
                            yield from _recovered(spot, decode, is_whole, tally)
                        continue
                yield Spot(number, number + 1, start, start + len(raw), raw), value

    def text_lines(self) -> Iterator[NoteLine]:
        """Every line of a file of text, with its place; damage is counted and reported."""
        with reading(self.path) as stream:
            for number, start, raw in read_lines(stream, self.form, TEXT_LINE_LIMIT):
                if raw is None:
                    self.tally["line over 1 MB"] += 1
                    self.errors.append(f"line {number + 1}: longer than 1 MB, skipped")
                    yield NoteLine(number, start, b"", "", too_long=True)
                    continue
                text, replaced = self.form.text(raw)
                if replaced:
                    self.tally["invalid UTF-8"] += 1
                yield NoteLine(number, start, raw, text.removesuffix("\r").replace("\0", "\ufffd"))

    def digest(self, start: int, end: int) -> str:
        """The sha256 of bytes that were read already, in hex."""
        digest = hashlib.sha256()
        with reading(self.path) as stream:
            stream.seek(start)
            while start < end and (block := stream.read(min(BLOCK, end - start))):
                digest.update(block)
                start += len(block)
        return digest.hexdigest()

    def damaged(self, where: str, problem: Exception) -> None:
        """Count and report a part of a document that cannot be read."""
        deep = isinstance(problem, RecursionError)
        self.tally["nested too deep" if deep else "bad JSON"] += 1
        self.errors.append(f"{where}: {'nested too deep to read' if deep else 'not JSON'}")


def last_versions(reading: Reading, name: str, between: str = "") -> Iterator[tuple[Spot, Fields]]:
    """The objects of a file in which a record is written again as it grows: its last version.

    `name`: the field with the id of a record. Objects with the field `between` may come between
    two versions, and are yielded before them.
    """
    held: tuple[Spot, Fields] | None = None
    for spot, record in reading.objects():
        if between and between in record:
            yield spot, record
            continue
        if held is not None:
            its = words(record.get(name))
            if its and its == held[1].get(name):
                reading.tally["message written again later"] += 1
            else:
                yield held
        held = spot, record
    if held is not None:
        yield held


def rewind_at(spot: Spot, first: int) -> Rewind:
    """The person went back: what is at `spot` follows what was before line `first`."""
    return Rewind(Turn(spot=spot, role=Role.SYSTEM, parts=[]).origin(), first, spot.line_start)


class Trail:
    """Finds rewinds in a format whose entries name the entry before them."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._last = ""

    def follow(self, name: str, before: str, line: int) -> int | None:
        """Take the next entry; the line from which on it leaves entries behind."""
        first = self._lines.get(before) if before != self._last else None
        self._lines[name], self._last = line, name
        return None if first is None else first + 1


TurnReader: TypeAlias = Callable[[Reading], Iterator[Turn | Rewind]]
"""Yields the turns of a file in the order in which their fate is known. A `Rewind` follows the
turns that were abandoned.
"""


def decoded(data: bytes | memoryview, tally: Counter[str]) -> object:
    """A JSON value; bytes that are not UTF-8 are replaced and counted.

    Raises ValueError or RecursionError when it cannot be read.
    """
    try:
        value: object = msgspec.json.decode(data)
    except ValueError:
        return mended(_any_value, data, tally)
    return value


def mended(decode: Callable[[bytes], Line], data: bytes | memoryview, tally: Counter[str]) -> Line:
    """A JSON value that is readable once bytes that are not UTF-8 and odd escapes are replaced.

    Raises ValueError or RecursionError when it is not.
    """
    data, replaced = bytes(data), False
    try:
        data.decode()
    except UnicodeDecodeError:
        data, replaced = data.decode("utf-8", "replace").encode(), True
    try:
        value = decode(data)
    except msgspec.DecodeError:
        clean = ODD_ESCAPE.sub(rb"\1\\ufffd", data)
        if clean == data:
            raise
        value = decode(clean)
        tally["odd escapes replaced"] += 1
    if replaced:
        tally["invalid UTF-8"] += 1
    return value


def _any_value(data: bytes) -> object:
    value: object = msgspec.json.decode(data)
    return value


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and len(value) > 1


def _recovered(
    spot: Spot,
    decode: Callable[[bytes], Line],
    is_whole: Callable[[Line], bool],
    tally: Counter[str],
) -> Iterator[tuple[Spot, Line]]:
    """The intact records inside a damaged line."""
    for offset, piece in json_pieces(bytes(spot.raw)):
        try:
            value = mended(decode, piece, tally)
        except (ValueError, RecursionError):
            continue
        if is_whole(value):
            tally["recovered from a damaged line"] += 1
            start = spot.byte_start + offset
            yield Spot(spot.line_start, spot.line_end, start, start + len(piece), piece), value


class Positions:
    """Converts offsets in a UTF-8 text, in any order, to lines and bytes of its file.

    The text begins at byte `start` of the file, in line `line`.
    """

    def __init__(self, data: bytes, form: TextForm, line: int, start: int) -> None:
        self._data, self._form, self._first, self._start = data, form, line, start
        self._line_end = form.line_end.replace(b"\0", b"")
        self._counts = [0]
        for begin in range(0, len(data), COUNTED_BLOCK):
            self._counts.append(
                self._counts[-1] + data.count(self._line_end, begin, begin + COUNTED_BLOCK)
            )
        self._offset, self._byte = 0, start

    def spot(self, at: int, value: memoryview) -> Spot:
        """The place of a value that begins at offset `at`."""
        end = at + len(value)
        raw: bytes | memoryview = value
        if self._form.encoding != "utf-8":
            raw = bytes(value).decode("utf-8", "replace").encode(self._form.encoding)
        start = self._bytes(at)
        return Spot(self._line(at), self._line(end) + 1, start, start + len(raw), raw)

    def _line(self, offset: int) -> int:
        block = offset // COUNTED_BLOCK
        before = self._data.count(self._line_end, block * COUNTED_BLOCK, offset)
        return self._first + self._counts[block] + before

    def _bytes(self, offset: int) -> int:
        if self._form.encoding == "utf-8":
            return self._start + offset
        if offset < self._offset:
            self._offset, self._byte = 0, self._start
        text = self._data[self._offset : offset].decode("utf-8", "replace")
        self._byte += len(text.encode(self._form.encoding))
        self._offset = offset
        return self._byte


class Located(NamedTuple):
    """A value of a document, undecoded, and its offset in the text."""

    at: int
    raw: memoryview


class Document:
    """A file that is one JSON document, or one `line` of a file: its values with their places."""

    def __init__(self, reading: Reading, line: Spot | None = None) -> None:
        form = reading.form
        data = reading.document if line is None else form.utf8(bytes(line.raw))
        assert data is not None
        number, start = (0, form.bom) if line is None else (line.line_start, line.byte_start)
        self._reading, self._positions = reading, Positions(data, form, number, start)
        at, raw = trimmed(memoryview(data))
        self.root = Located(at, raw)

    def fields(self, value: Located) -> dict[str, Located]:
        """The fields of an object; empty for anything else."""
        if first_byte(value.raw) != b"{":
            return {}
        try:
            found = fields(value.raw)
        except (ValueError, RecursionError) as problem:
            self._reading.damaged(f"byte {value.at}", problem)
            return {}
        return {name: Located(value.at + at, raw) for name, (at, raw) in found.items()}

    def items(self, value: Located | None) -> Iterator[Located]:
        """The items of a list; nothing for anything else."""
        if value is None or first_byte(value.raw) != b"[":
            return
        try:
            for at, raw in items(value.raw):
                yield Located(value.at + at, raw)
        except (ValueError, RecursionError) as problem:
            self._reading.damaged(f"byte {value.at}", problem)

    def objects(self, value: Located | None) -> Iterator[tuple[Spot, Fields]]:
        """The objects of a list, decoded, with their places."""
        for item in self.items(value):
            found = self.decoded(item)
            if isinstance(found, dict):
                yield self.spot(item), found
            else:
                self._reading.tally["not a record"] += 1

    def spot(self, value: Located) -> Spot:
        """The place of a value."""
        return self._positions.spot(value.at, value.raw)

    def decoded(self, value: Located | None) -> object:
        """The value; None, counted and reported, if it cannot be read."""
        if value is None:
            return None
        try:
            return decoded(value.raw, self._reading.tally)
        except (ValueError, RecursionError) as problem:
            self._reading.damaged(f"byte {value.at}", problem)
            return None

    def plain(self, named: dict[str, Located], *without: str) -> Fields:
        """The fields of an object, decoded, except some that are large."""
        return {name: self.decoded(at) for name, at in named.items() if name not in without}


def trimmed(value: memoryview, at: int = 0) -> tuple[int, memoryview]:
    """A JSON value without the blanks before it, and its offset."""
    padding = len(value) - len(bytes(value).lstrip()) if first_byte(value) in b" \t\r\n" else 0
    return at + padding, value[padding:]


def row_spot(row: int, raw: bytes | str) -> Spot:
    """The place of a row of a database, or of an item in an archive."""
    data = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    return Spot(row, row + 1, 0, 0, data)


def said(text: str, use: Use | None = None) -> Part:
    """Text of a turn."""
    return Part("text", text, use)


def typed(text: str, tally: Counter[str], harness: tuple[str, ...] = ()) -> Part:
    """Text with the person's role: theirs, or put there by the agent.

    `harness`: how texts of this agent begin that nobody typed.
    """
    if harness and text.lstrip().startswith(harness):
        return Part("text", text, Use.BOOT)
    use, clean, cuts = classify(text)
    for reason, count in cuts.items():
        tally[f"{reason} cut out"] += count
    return Part("text", clean, use)


def thought(text: object) -> list[Part]:
    """What an agent thought; nothing if it is not readable."""
    return [Part("thinking", text)] if isinstance(text, str) and text.strip() else []


def called(name: object, given: object, call: object = "") -> Part:
    """A tool call. `given` may be JSON in a string."""
    if isinstance(given, str):
        try:
            inside: object = msgspec.json.decode(given)
        except (ValueError, RecursionError):
            return Part("tool_use", given, name=words(name), call=words(call))
        given = inside if isinstance(inside, (dict, list)) else given
    text = given if isinstance(given, str) else input_text(given)
    return Part("tool_use", text, name=words(name), call=words(call))


def returned(
    result: object,
    call: object = "",
    name: object = "",
    *,
    error: bool = False,
    code: object = None,
) -> Part:
    """The result of a tool call: a string, a list of parts, or an object."""
    text = part_text(result)
    if isinstance(result, dict) and "text" not in result and "content" not in result:
        text = msgspec.json.encode(result).decode("utf-8", "replace")
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    return Part("tool_result", text, name=words(name), call=words(call), error=error, code=known)


def words(value: object) -> str:
    """The value if it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def inner(value: object, *names: str) -> Fields:
    """An object inside an object, found by its names; empty if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def each(value: object) -> Iterator[Fields]:
    """The objects of a list."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def moment(value: object) -> str | None:
    """A time as ISO 8601, from ISO text or from seconds or milliseconds since 1970."""
    if isinstance(value, str):
        if value.isdigit():
            return moment(int(value))
        return written_moment(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    seconds = value / 1000 if value > OLDER_THAN_SECONDS else value
    if not 0 < seconds < 4e9:
        return None
    return iso(datetime.fromtimestamp(seconds, UTC))


def nanoseconds(value: object) -> int:
    """A time in seconds or milliseconds since 1970 as nanoseconds; 0 where it is none."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return 0
    seconds = value / 1000 if value > OLDER_THAN_SECONDS else value
    return int(seconds * 1e9) if 0 < seconds < 4e9 else 0


class Chain:
    """Keys for turns without an id of their own.

    A key depends on the session and on all turns before it, so words that occur twice in a session
    are two records, while a copy of a session has the same keys and a session that has grown adds
    only what is new.
    """

    def __init__(self, session: str) -> None:
        self._digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).digest()

    def key(self, *words: str) -> str:
        text = "\0".join(words).encode("utf-8", "surrogatepass")
        self._digest = hashlib.sha256(self._digest + text).digest()
        return f"sha256:{self._digest.hex()}"


def message_text(turn: Turn) -> str:
    """What was said in a turn; where nothing was, its other text."""
    texts = [part for part in turn.parts if part.kind == "text" and not part.is_data]
    spoken = [part for part in texts if use_of(turn, part) is Use.MESSAGE] or texts
    return "\n\n".join(part.text for part in spoken)


def use_of(turn: Turn, part: Part) -> Use:
    """The use of a part: its own, or what its kind and the turn's role suggest."""
    if part.use is not None:
        return part.use
    if part.kind == "tool_result":
        return Use.TOOL
    return Use.BOOT if turn.role is Role.SYSTEM and part.kind == "text" else Use.MESSAGE
