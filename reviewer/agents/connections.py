"""Connecting and disconnecting agents: previewed, written with backups, recorded, and undone byte
for byte.

The record beside the store has each file's backup and the additions made to it. A file changed by
somebody else since then loses our additions only.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct, field, structs

from reviewer.agents import json_text, toml_text
from reviewer.agents.agent_files import AgentFiles
from reviewer.agents.json_text import Addition
from reviewer.agents.wiring import (
    CONNECTABLE,
    SERVER,
    FileKind,
    Wiring,
    WiringFile,
    WiringPlace,
    WiringScope,
    without_server,
)
from reviewer.clock import Clock, iso, utc_now
from reviewer.errors import ConflictError, ReviewerError
from reviewer.files import FOLDER_MODE, make_folders, make_private_folder, read_own, write_atomic
from reviewer.promotion.export.file_writer import (
    PlannedFile,
    read_file,
    remove_file,
    unified_diff,
    write_plan,
)
from reviewer.promotion.export.marked_block import BlockError, with_block, without_block
from reviewer.sharing import personal
from reviewer.system import user
from reviewer.text.for_agents import AgentText

RECORD = "connections.json"
LARGEST = 20_000_000
"""Bytes of a settings file; Claude Code keeps its history in one."""

Tell = Callable[[str, Sequence[str]], None]


class WrittenFile(Struct, frozen=True, kw_only=True):
    """A recorded change of a file. `before` is empty if the file was created."""

    path: str
    kind: FileKind
    before: str
    """The SHA-256 of the earlier content, in hex."""
    after: str
    backup: str = ""
    additions: tuple[Addition, ...] = ()
    table: tuple[str, ...] = ()
    values: dict[str, str | list[str]] = {}
    made: tuple[str, ...] = ()
    """Folders created for it, outermost first."""

    def has_written(self, data: bytes) -> bool:
        return _digest(data) == self.after


class Connection(Struct, frozen=True, kw_only=True):
    agent: str
    scope: WiringScope
    root: str
    at: str
    command: tuple[str, ...]
    files: tuple[WrittenFile, ...]
    project: str = ""
    """The project of a memory folder."""
    triggers: tuple[str, ...] | None = field(default=None, name="guards")
    """The chosen calls in the hooks; None if written by an earlier version."""

    @property
    def key(self) -> tuple[str, WiringScope, str]:
        return self.agent, self.scope, self.root

    @property
    def place(self) -> WiringPlace:
        return WiringPlace(
            scope=self.scope,
            root=Path(self.root),
            command=self.command,
            environment=dict(os.environ),
            server=self.has_server,
        )

    @property
    def has_server(self) -> bool:
        """Whether the MCP server is in its settings."""
        return any(
            each.table or any(addition.name == SERVER for addition in each.additions)
            for each in self.files
        )

    @property
    def named(self) -> str | None:
        """The project that its command names; None for that of the folder."""
        command = self.command
        return command[command.index("--project") + 1] if "--project" in command else None

    def is_for(self, root: str) -> bool:
        """Whether it is for the project in a folder, or for all."""
        return self.scope is WiringScope.USER or self.root == root

    def missing(self) -> list[str]:
        """Its missing parts, as sentences."""
        return [sentence for each in self.files if (sentence := _missing(each))]


class FileChange(Struct, frozen=True, kw_only=True):
    plan: PlannedFile
    part: WiringFile | None = None
    removal: bool = False
    """The file is deleted."""
    earlier: WrittenFile | None = None
    base: bytes | None = None
    """The content without an earlier connection."""


class Planned(Struct, frozen=True, kw_only=True):
    """The effect of connecting or disconnecting. `left`: sentences about leftovers."""

    agent: str
    place: WiringPlace
    changes: tuple[FileChange, ...]
    afterwards: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    connection: Connection | None = None
    project: str = ""

    @property
    def changed(self) -> list[FileChange]:
        return [each for each in self.changes if each.plan.changed or each.removal]


class Connections:
    """The agents connected to a store."""

    def __init__(self, store: Path, *, clock: Clock = utc_now) -> None:
        self._store = store
        self._clock = clock
        self._files = AgentFiles(store)
        self._backups = personal(store, "-backups")

    def all(self) -> list[Connection]:
        """All connections, oldest first. Raises ReviewerError for a damaged record."""
        path = self._files.folder / RECORD
        try:
            return msgspec.json.decode(read_own(path), type=list[Connection])
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise ReviewerError(
                f"{path}, which records the connected agents, cannot be read: {problem.strerror}."
            ) from problem
        except msgspec.DecodeError as problem:
            raise ReviewerError(
                f"{path}, which records the connected agents, is damaged: {problem}. Backups of "
                f"every changed file are in {self._backups}."
            ) from problem

    def of(self, agent: str, scope: WiringScope, root: Path) -> Connection | None:
        key = agent, scope, str(root)
        return next((each for each in self.all() if each.key == key), None)

    def plan_connect(
        self,
        agent: str,
        place: WiringPlace,
        *,
        block: AgentText | None = None,
    ) -> Planned:
        """The changes that connecting would make. `block`: also write these memories into a marked
        block.

        Raises ReviewerError with the name of a file that must not be changed.
        """
        wiring: Wiring = CONNECTABLE[agent].wire(place)
        if not place.server:
            wiring = without_server(wiring)
        if block is not None:
            path = place.root / CONNECTABLE[agent].block
            written = WiringFile(path=path, kind=FileKind.BLOCK, text=block)
            wiring = structs.replace(wiring, parts=(*wiring.parts, written))
        planned = self._plan(agent, place, wiring)
        twice = [
            f"{agent} is also connected by {_connecting(each)}, "
            "so it gets each packet twice in that folder. One connection is enough."
            for each in self.all()
            if each.agent == agent and each.scope not in (place.scope, WiringScope.MEMORY)
        ]
        return structs.replace(planned, afterwards=(*planned.afterwards, *twice))

    def plan_memory(
        self, agent: str, place: WiringPlace, project: str, facts: AgentText
    ) -> Planned:
        """The same for a project's facts in the agent's memory folder.

        Raises ReviewerError also for an agent without one.
        """
        from reviewer.agents.memory_folders import memory_wiring  # late: it imports readers

        wiring = memory_wiring(agent, place, project, facts)
        return structs.replace(self._plan(agent, place, wiring), project=project)

    def follow_triggers(self, read: Callable[[], tuple[str, ...]], tell: Tell) -> list[str]:
        """Rewrite the hooks of agents whose settings have other triggers than those that are read;
        returns a sentence for each failure. `tell` gets, for each written file, the agent's
        title and lines: the reason, then the diff. Not recorded as a person's act. Raises
        ReviewerError, OSError.
        """
        now = read()
        if all(each.triggers in (None, now) for each in self.all()):
            return []
        problems: list[str] = []
        with self._files.lock("connect", wait=True):
            now = read()  # the last to write knows every decision
            for each in self.all():
                try:
                    self._follow(each, now, tell)
                except (ReviewerError, OSError) as problem:
                    problems.append(f"The hooks of {each.agent}: {problem}")
        return problems

    def _follow(self, connection: Connection, now: tuple[str, ...], tell: Tell) -> None:
        """Rewrite the hooks of an agent, unless its settings are elsewhere for this process."""
        if connection.triggers in (None, now):
            return
        place = structs.replace(connection.place, triggers=now)
        planned = self.plan_connect(connection.agent, place)
        own = {old.path for old in connection.files}
        if not own >= {str(each.plan.path) for each in planned.changes}:
            return
        files, _ = self._write(planned)
        self._keep(structs.replace(connection, files=files, triggers=now))
        before = set(connection.triggers or ())
        why = [f"{trigger} is new" for trigger in now if trigger not in before]
        why += [f"{trigger} is gone" for trigger in sorted(before.difference(now))]
        for change in planned.changed:
            said = f"{change.plan.path} was rewritten for {planned.agent}: {', '.join(why)}."
            tell(CONNECTABLE[planned.agent].title, [said, *self.diff(change)])

    def rewrite(self, connection: Connection, texts: Sequence[AgentText]) -> list[str]:
        """Rewrite our own files; returns a sentence for each that was changed by somebody else,
        which stays as it is. Raises ReviewerError, OSError.
        """
        problems: list[str] = []
        own = [each.path for each in connection.files if each.kind is FileKind.OWN]
        with self._files.lock("connect", wait=True):
            files = {each.path: each for each in connection.files}
            for path, text in zip(own, texts, strict=True):
                old, data = files[path], read_file(Path(path))
                new = text.encode()
                if data is None or data == new:
                    continue  # removed by somebody, as shown in the table of agents
                if not old.has_written(data):
                    problems.append(f"{path} was edited since, so it is not updated.")
                    continue
                write_atomic(Path(path), new)
                values: dict[str, str | list[str]] = {"text": text}
                files[path] = structs.replace(old, after=_digest(new), values=values)
                self._keep(structs.replace(connection, files=tuple(files.values())))
        return problems

    def _plan(self, agent: str, place: WiringPlace, wiring: Wiring) -> Planned:
        earlier = self.of(agent, place.scope, place.root)
        written = {each.path: each for each in earlier.files} if earlier else {}
        changes = [
            self._plan_part(part, place, written.pop(str(part.path), None)) for part in wiring.parts
        ]
        unused = [old for old in written.values() if old.kind is not FileKind.BLOCK]
        removals, left = self._plan_removals(unused, place)
        return Planned(
            agent=agent,
            place=place,
            changes=(*changes, *removals),
            afterwards=(*wiring.afterwards, *wiring.about_server),
            left=left,
            connection=earlier,
        )

    def plan_disconnect(self, connection: Connection) -> Planned:
        """The changes that disconnecting would make. Raises ReviewerError as `plan_connect`."""
        changes, left = self._plan_removals(connection.files, connection.place)
        return Planned(
            agent=connection.agent,
            place=connection.place,
            changes=changes,
            left=left,
            connection=connection,
        )

    def diff(self, change: FileChange) -> list[str]:
        return unified_diff(change.plan, str(change.plan.path).lstrip("/"))

    def connect(self, planned: Planned) -> list[Path]:
        """Write a plan, all its files or none, and return the backups.

        Raises ConflictError if a file has changed since planning, ReviewerError if one cannot be
        written.
        """
        with self._files.lock("connect", wait=True):
            files, backups = self._write(planned)
            connection = Connection(
                agent=planned.agent,
                scope=planned.place.scope,
                root=str(planned.place.root),
                at=iso(self._clock()),
                command=planned.place.command,
                files=files,
                project=planned.project,
                triggers=planned.place.triggers,
            )
            self._keep(connection)
            return backups

    def disconnect(self, planned: Planned) -> list[Path]:
        """The same for a disconnection. Leftovers belong to the person from then on."""
        with self._files.lock("connect", wait=True):
            assert planned.connection is not None
            _, backups = self._write(planned)
            self._keep(structs.replace(planned.connection, files=()))
            return backups

    # Planning

    def _plan_part(
        self, part: WiringFile, place: WiringPlace, earlier: WrittenFile | None
    ) -> FileChange:
        data, real = _read(part.path, place)
        base = data
        if earlier is not None and data is not None:
            change, sentence = self._plan_removal(earlier, place)
            if sentence:
                raise ReviewerError(sentence)
            if change is not None:
                base = None if change.removal else change.plan.after
        if part.kind is FileKind.OWN:
            if base is not None and _text(part.path, base) != part.text:
                raise ReviewerError(
                    f"{part.path} exists and was not written by reviewer: move it away."
                )
            after = part.text.encode()
        elif part.kind is FileKind.BLOCK:
            after = with_block(part.path, base or b"", part.text)
        elif part.kind is FileKind.LINE:
            after = _with_line(b"" if base is None else base, part.text)
            _text(part.path, after)
        else:
            text = "" if base is None else _text(part.path, base)
            try:
                if part.kind is FileKind.TOML:
                    after = toml_text.added(text, part.table, part.values).encode()
                else:
                    if not text.strip():
                        text = "{}\n"
                    found = json_text.with_found(text, part.additions)
                    part = structs.replace(part, additions=found)
                    after = json_text.added(text, found).encode()
            except (json_text.JsonTextError, toml_text.TomlTextError) as problem:
                raise ReviewerError(f"{part.path}: {problem} Nothing was written.") from problem
        private = place.scope is not WiringScope.PROJECT
        plan_file = PlannedFile(
            path=part.path, real=real, before=data, after=after, private=private
        )
        same = earlier is not None and base is not data
        return FileChange(plan=plan_file, part=part, earlier=earlier if same else None, base=base)

    def _plan_removals(
        self, files: Sequence[WrittenFile], place: WiringPlace
    ) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """Restore files, with sentences about leftovers."""
        planned = [self._plan_removal(each, place) for each in files]
        return (
            tuple(change for change, _ in planned if change),
            tuple(sentence for _, sentence in planned if sentence),
        )

    def _plan_removal(self, old: WrittenFile, place: WiringPlace) -> tuple[FileChange | None, str]:
        """Restore a file, with a sentence about leftovers."""
        path = Path(old.path)
        data, real = _read(path, place)
        if data is None:
            return None, ""
        after, sentence = _restored(old, data)
        plan = PlannedFile(path=path, real=real, before=data, after=after or b"")
        return FileChange(plan=plan, removal=after is None, earlier=old), sentence

    # Writing

    def _write(self, planned: Planned) -> tuple[tuple[WrittenFile, ...], list[Path]]:
        """Write a plan, all its files or none; returns the files of the connection, and the
        backups. Raises ConflictError.
        """
        place = planned.place
        if self.of(planned.agent, place.scope, place.root) != planned.connection:
            raise ConflictError(
                f"{planned.agent} was connected or disconnected by another process meanwhile; "
                "nothing was written."
            )
        files = {each.path: each for each in planned.connection.files} if planned.connection else {}
        backups: list[Path] = []
        done: list[FileChange] = []
        folders: list[str] = []
        try:
            for change in planned.changes:
                mode = FOLDER_MODE if change.plan.private else 0o777
                made = [] if change.removal else make_folders(change.plan.path.parent, mode)
                folders += map(str, made)
                done.append(change)
                backup = self._write_one(change)
                backups += [backup] if backup else []
                files.pop(str(change.plan.path), None)
                if change.part is not None:
                    files[str(change.part.path)] = _as_written(change, backup, made)
        except BaseException:
            for change in reversed(done):
                self._put_back(change)
            _remove_folders(folders)
            raise
        gone = [change.earlier for change in done if change.removal and change.earlier]
        _remove_folders([folder for each in gone for folder in each.made])
        return tuple(files.values()), backups

    def _write_one(self, change: FileChange) -> Path | None:
        plan = change.plan
        if change.removal:
            assert plan.before is not None
            return remove_file(
                plan.path,
                plan.before,
                backup_folder=self._backups,
                clock=self._clock,
                real=plan.real,
            )
        return write_plan(plan, backup_folder=self._backups, clock=self._clock)

    def _put_back(self, change: FileChange) -> None:
        """Undo a change after another one failed, unless somebody has changed the file since."""
        plan = change.plan
        now, before = None if change.removal else plan.after, plan.before
        back = structs.replace(plan, before=now, after=before or b"")
        with suppress(ReviewerError):
            self._write_one(FileChange(plan=back, removal=before is None))

    def _keep(self, connection: Connection) -> None:
        """Write the record with this connection in place of the earlier one."""
        others = [each for each in self.all() if each.key != connection.key]
        kept = [*others, connection] if connection.files else others
        folder = self._files.folder
        make_private_folder(folder)
        write_atomic(folder / RECORD, msgspec.json.format(msgspec.json.encode(kept)))


def _connecting(connection: Connection) -> str:
    if connection.scope is WiringScope.USER:
        return f"reviewer connect {connection.agent}"
    return f"reviewer connect {connection.agent} --{connection.scope} (in {connection.root})"


_WITH_TEXT = (FileKind.OWN, FileKind.LINE)


def _with_line(data: bytes, line: str) -> bytes:
    """A text with a line appended, in its own line endings."""
    ending = b"\r\n" if b"\r\n" in data else b"\n"
    own = line.encode()
    if own in data.splitlines():
        return data
    return data + (b"" if not data or data.endswith(b"\n") else ending) + own + ending


def _without_line(data: bytes, line: str) -> tuple[bytes, bool]:
    """A text without a line, and whether the line was changed."""
    lines = data.splitlines(keepends=True)
    own = line.encode()
    kept = [each for each in lines if each.rstrip(b"\r\n") != own]
    changed = len(kept) == len(lines) and own[own.index(b"](") : own.index(b")") + 1] in data
    return b"".join(kept), changed


def _as_written(change: FileChange, backup: Path | None, made: Sequence[Path]) -> WrittenFile:
    """The record of a change. One that replaces an earlier change keeps the original content."""
    part, plan, earlier = change.part, change.plan, change.earlier
    assert part is not None
    before, kept, folders = plan.before, str(backup or ""), tuple(map(str, made))
    digest = _digest(before) if before is not None else ""
    if earlier is not None:
        was_ours = before is not None and earlier.has_written(before)
        if was_ours:
            digest, kept = earlier.before, earlier.backup
        else:  # the backup has the earlier additions: only ours are removed later
            digest, kept = ("" if change.base is None else _digest(change.base)), ""
        folders = (*earlier.made, *folders)
    return WrittenFile(
        path=str(part.path),
        kind=part.kind,
        before=digest,
        after=_digest(plan.after),
        backup=kept,
        additions=part.additions,
        table=part.table,
        values={"text": part.text} if part.kind in _WITH_TEXT else part.values,
        made=folders,
    )


def _restored(old: WrittenFile, data: bytes) -> tuple[bytes | None, str]:
    """A file as it was before, None if there was none; with a sentence about leftovers."""
    if old.has_written(data):
        if not old.before:
            return None, ""
        backup = read_file(Path(old.backup)) if old.backup else data
        if backup is not None and _digest(backup) == old.before:
            return backup, ""
    after, sentence = _taken_out(old, data)
    created = not old.before and after.strip() in (b"", b"{}")
    return None if created else after, sentence


def _taken_out(old: WrittenFile, data: bytes) -> tuple[bytes, str]:
    """A file changed by somebody else, without our additions, and a sentence about leftovers."""
    path = Path(old.path)
    if old.kind is FileKind.BLOCK:
        try:
            return without_block(path, data), ""
        except BlockError as problem:
            return data, str(problem)
    changed, after = [], data
    try:
        if old.kind is FileKind.LINE:
            after, edited = _without_line(data, str(old.values["text"]))
            changed = ["the line of reviewer"] if edited else []
        elif old.kind is FileKind.JSON:
            text, changed = json_text.without(_text(path, data), old.additions)
            after = text.encode()
        elif old.kind is FileKind.TOML:
            shorter = toml_text.without(_text(path, data), old.table, old.values)
            changed = [".".join(old.table)] if shorter is None else []
            after = data if shorter is None else shorter.encode()
        else:
            return data, f"{path} was changed since, so it stays."
    except (json_text.JsonTextError, toml_text.TomlTextError) as problem:
        return data, f"{path} was changed since and stays as it is. {problem}"
    return after, f"{path}: {', '.join(changed)} was changed since, so it stays." if changed else ""


def _missing(old: WrittenFile) -> str:
    """A sentence if written content is missing or changed."""
    path = Path(old.path)
    try:
        data = read_file(path)
        if data is None:
            return f"{path} is gone."
        if old.has_written(data):
            return ""
        text = _text(path, data)
        if old.kind is FileKind.JSON:
            there = all(json_text.has(text, each) for each in old.additions)
        elif old.kind is FileKind.TOML:
            there = toml_text.added(text, old.table, old.values) == text
        elif old.kind is FileKind.LINE:
            there = str(old.values["text"]) in text.splitlines()
        else:
            there = old.kind is FileKind.BLOCK
    except ReviewerError as problem:
        return f"{path}: {problem}"
    return "" if there else f"{path} was changed since."


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ReviewerError(f"{path} is not UTF-8 text; nothing was written.") from None


def _read(path: Path, place: WiringPlace) -> tuple[bytes | None, Path]:
    """The content of a file that may be changed, None if there is none; and its path, links
    followed.

    Raises ReviewerError for a link in a project, and for a very large or another user's file; other
    files that must not be replaced are refused when it is written.
    """
    real = Path(os.path.realpath(path))
    root = Path(os.path.realpath(place.root))
    if place.scope is WiringScope.PROJECT and real != root / path.relative_to(place.root):
        raise ReviewerError(
            f"{path} leads through a link to {real}; files of a project are never written through "
            "links. Replace the link, or connect with --user."
        )
    try:
        found = real.stat()
    except FileNotFoundError:
        return None, real
    except OSError as problem:
        raise ReviewerError(f"{path} cannot be read: {problem.strerror}.") from problem
    if user() not in (None, found.st_uid):
        raise ReviewerError(f"{path} belongs to another user; nothing was written.")
    if not found.st_mode & stat.S_IWUSR:  # also for root, who could write it
        raise ReviewerError(f"{path} is read-only: make it writable first.")
    if found.st_size > LARGEST:
        raise ReviewerError(f"{path} is larger than {LARGEST // 1_000_000} MB.")
    return read_file(real), real


def _remove_folders(made: Sequence[str]) -> None:
    """Remove folders created for files, if they are empty again."""
    for folder in sorted(made, key=len, reverse=True):
        try:
            os.rmdir(folder)
        except OSError as problem:
            if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                raise
