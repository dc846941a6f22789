"""Claude Code sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from reviewer.clock import written_moment
from reviewer.sources.claude_words import is_notice
from reviewer.sources.events import Rewind
from reviewer.sources.fields import Fields, inner, words
from reviewer.sources.format import Format, Location
from reviewer.sources.formats.claude_lines import (
    ClaudeLine,
    ClaudeMessage,
    ContentBlock,
    decode_line,
    is_claude,
)
from reviewer.sources.formats.claude_queue import TextQueue
from reviewer.sources.formats.claude_tree import Node, SessionTree
from reviewer.sources.parts import Part, called, typed
from reviewer.sources.reading import Reading, Spot, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Turn

NAME = "claude-code"


class _Session:
    """A file being read."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._tally = reading.tally
        self._tree = SessionTree()
        self._queue = TextQueue(reading.tally)
        self._blocks: set[int] = set()
        """The blocks of replies and messages: a resumed session may repeat them in records with
        new ids."""
        self._left: list[Rewind] = []

    def turns(self) -> Iterator[Turn | Rewind]:
        last: Turn | None = None
        for spot, line in self._reading.lines(decode_line, _is_whole):
            if line.type == "queue-operation":
                self._queue_operation(spot, line)
                continue
            turn, node = self._turn(spot, line)
            if turn is None:
                if line.uuid:
                    self._placed(line, node, spot)
                if line.subtype == "compact_boundary":
                    self._compacted(line)
                continue
            if line.uuid and (left := self._placed(line, node, spot)) is not None:
                yield self._rewind(turn, left)
            if turn.parts:
                if self._queue.held:
                    yield from map(self._late, self._queue.passed(turn))
                yield turn
                last = turn
        if last is not None and (left := self._tree.ended()) is not None:
            yield self._rewind(last, left)
        yield from map(self._late, self._queue.ended())

    def _placed(self, line: ClaudeLine, node: Node, spot: Spot) -> tuple[int, int] | None:
        """Add a record to the tree."""
        parent = line.parent_uuid or line.logical_parent_uuid
        return self._tree.add(line.uuid or "", parent, node, spot.line_start)

    def _rewind(self, turn: Turn, lines: tuple[int, int]) -> Rewind:
        self._left.append(Rewind(turn.origin, *lines))
        return self._left[-1]

    def _compacted(self, line: ClaudeLine) -> None:
        """Handle a compaction that kept the last messages: the next message has the first of these
        as its parent, bypassing the compaction.
        """
        kept = inner(line.compact_metadata, "preservedSegment")
        tail, summary = words(kept.get("tailUuid")), words(kept.get("anchorUuid"))
        if tail and summary:
            self._tree.compacted(tail, summary)

    def _late(self, turn: Turn) -> Turn:
        """A queued text that is yielded after its line."""
        line = turn.origin.line_start
        if any(each.first <= line < each.end for each in self._left):
            return structs.replace(turn, rewound=True)
        return turn

    def _queue_operation(self, spot: Spot, line: ClaudeLine) -> None:
        """Text typed while the agent was busy. It may be repeated as an ordinary turn."""
        parts = self._typed(_pieces(line.content), _is_by_harness(line))
        turn = _made(spot, line, Role.USER, parts, queued=True) if parts else None
        if line.operation in ("dequeue", "remove"):
            self._queue.left(turn, written_moment(line.timestamp))
        elif turn is not None and line.operation == "enqueue":
            self._queue.enqueued(turn)
            return
        elif turn is not None and line.operation == "popAll":
            self._queue.taken_back(turn)
            return
        self._tally["queue operation"] += 1

    def _turn(self, spot: Spot, line: ClaudeLine) -> tuple[Turn | None, Node]:
        """The turn of a line, and its kind; no turn if there is nothing to read."""
        kind = line.type
        if kind == "assistant":
            return self._assistant(spot, line)
        if kind == "user":
            return self._user(spot, line)
        if kind == "attachment" and (parts := self._attached(line)):
            return _made(spot, line, Role.USER, parts), Node.OTHER
        if kind == "system" and line.subtype == "away_summary":
            pieces = _pieces(line.content)
            parts = [part for each in pieces for part in self._parts(each, RecordUse.SUMMARY)]
            return _made(spot, line, Role.ASSISTANT, parts), Node.OTHER
        silent(self._tally, kind)
        return None, Node.OTHER

    def _assistant(self, spot: Spot, line: ClaudeLine) -> tuple[Turn, Node]:
        message = _message(line)
        artificial = line.is_api_error_message or message.model == "<synthetic>"
        use = RecordUse.WRAPPER if artificial else RecordUse.MESSAGE
        parts: list[Part] = []
        reply = message.id or ""
        for piece in _pieces(message.content):
            for part in self._parts(piece, use):
                if not self._is_repeated(reply, part):
                    parts.append(part)
        model = "" if artificial else message.model or ""
        turn = _made(spot, line, Role.ASSISTANT, parts, reply=reply, model=model)
        return turn, Node.APART if line.is_sidechain else Node.ASSISTANT

    def _is_repeated(self, name: str, part: Part) -> bool:
        """Whether a block has occurred before. `name`: of its reply, or the time of a message."""
        if not name:
            return False
        known = len(self._blocks)
        self._blocks.add(hash((name, part.kind, part.call, part.text)))
        if len(self._blocks) > known:
            return False
        self._tally["repeated"] += 1
        return True

    def _user(self, spot: Spot, line: ClaudeLine) -> tuple[Turn, Node]:
        pieces = _pieces(_message(line).content)
        if line.is_compact_summary:
            parts = [part for each in pieces for part in self._parts(each, RecordUse.SUMMARY)]
        elif line.is_meta:
            parts = [part for each in pieces for part in self._parts(each, RecordUse.WRAPPER)]
        else:
            parts = self._typed(pieces, _is_by_harness(line))
        parts = [part for part in parts if not self._is_repeated(line.timestamp or "", part)]
        feedback = line.user_feedback or ""
        results = False
        for at, part in enumerate(parts):
            if part.kind == "tool_result":
                results = True
                if feedback:
                    parts[at] = structs.replace(part, feedback=feedback, error=True)
        # A sub-agent's task is written by an agent, not by the user.
        if line.is_sidechain:
            parts = [_of_agent(part) for part in parts]
            return _made(spot, line, Role.ASSISTANT, parts), Node.APART
        said = any(part.use is RecordUse.MESSAGE for part in parts)
        node = Node.TOOL_RESULT if results else Node.PROMPT if said else Node.WRAPPER
        return _made(spot, line, Role.USER, parts), node

    def _attached(self, line: ClaudeLine) -> list[Part]:
        """Text typed while the agent was busy and given to it in mid-turn."""
        attachment = line.attachment
        if attachment is None or attachment.type != "queued_command":
            return []
        by_harness = (
            attachment.is_meta
            or attachment.command_mode not in (None, "prompt")
            or _is_foreign(attachment.origin)
            or _is_by_harness(line)
        )
        return self._typed(_pieces(attachment.prompt), by_harness)

    def _typed(self, pieces: Iterable[ContentBlock], by_harness: bool) -> list[Part]:
        """The parts of a message written by the user or in their name."""
        parts: list[Part] = []
        for piece in pieces:
            if piece.type == "text":
                for part in typed(piece.text or "", self._tally):
                    if part.use is RecordUse.MESSAGE and (by_harness or is_notice(part.text)):
                        part = Part("text", part.text, RecordUse.WRAPPER)
                    parts.append(part)
            else:
                parts += self._parts(piece, RecordUse.WRAPPER)
        return parts

    def _parts(self, piece: ContentBlock, use: RecordUse) -> Iterator[Part]:
        """A block as a part, unless empty; `use`: of its text."""
        kind = piece.type
        if kind == "text":
            if piece.text and not piece.text.isspace():
                yield Part("text", piece.text, use)
        elif kind == "tool_use":
            yield from called(piece.name, piece.input, piece.id)
        elif kind == "tool_result":
            text = _result_text(piece.content)
            failed = bool(piece.is_error)
            yield Part("tool_result", text, call=piece.tool_use_id or "", error=failed)
        elif kind == "thinking":
            if piece.thinking and not piece.thinking.isspace():
                yield Part("thinking", piece.thinking)
        elif kind == "image" or kind == "document":
            yield Part("text", f"[{kind}]", RecordUse.WRAPPER, is_data=True)
        else:
            silent(self._tally, kind)


def _is_whole(line: ClaudeLine) -> bool:
    """Whether an object in a damaged line is a complete record."""
    return bool(line.session_id)


def _made(
    spot: Spot,
    line: ClaudeLine,
    role: Role,
    parts: list[Part],
    *,
    reply: str = "",
    model: str = "",
    queued: bool = False,
) -> Turn:
    origin = spot.origin(
        line.uuid or "",
        at=written_moment(line.timestamp),
        session=line.session_id,
        sidechain=bool(line.is_sidechain),
        cwd=line.cwd or "",
        branch=line.git_branch or "",
        model=model,
        version=line.version or "",
        reply=reply,
        queued=queued,
    )
    return Turn(origin=origin, role=role, parts=parts)


def _message(line: ClaudeLine) -> ClaudeMessage:
    """The message; in old files, the text itself."""
    message = line.message
    return message if isinstance(message, ClaudeMessage) else ClaudeMessage(content=message)


def _pieces(content: str | list[ContentBlock] | None) -> list[ContentBlock]:
    return [ContentBlock("text", content)] if isinstance(content, str) else content or []


def _result_text(content: str | list[ContentBlock] | None) -> str:
    """The text of a result: a string, or the texts of its parts; other parts by type."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = (
        _result_text(piece.content)
        if piece.text is None and piece.content is not None
        else f"[{piece.type or 'data'}]"
        if piece.text is None
        else piece.text
        for piece in content
    )
    return "\n\n".join(text for text in texts if text and not text.isspace())


def _is_by_harness(line: ClaudeLine) -> bool:
    """Whether a record's fields mark its text as not typed."""
    return bool(line.is_meta) or line.prompt_source == "system" or _is_foreign(line.origin)


def _is_foreign(origin: Fields | None) -> bool:
    """Whether a text came from a task, a channel or another session, in versions that say so."""
    return words(inner(origin).get("kind")) not in ("", "human")


def _of_agent(part: Part) -> Part:
    mine = part.kind == "text" and part.use is not RecordUse.SUMMARY and not part.is_data
    return structs.replace(part, name="agent") if mine else part


_SESSIONS = Location(
    folder=".claude/projects",
    pattern="*/*.jsonl",
    variable="CLAUDE_CONFIG_DIR",
    kept_days=30,
    kept_setting="cleanupPeriodDays",
)

FORMAT = Format(
    name=NAME,
    agent="Claude Code",
    locations=(
        _SESSIONS,
        structs.replace(_SESSIONS, pattern="*/*/subagents/*.jsonl", of_subagents=True),
    ),
    tested="real files, 2.0.64 to 2.1.219",
    detect_record=is_claude,
    turns=lambda reading: _Session(reading).turns(),
    is_log=True,
)
