"""Finds the files to read below the paths given by the user."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from reviewer.errors import OtherKindError, SourceError
from reviewer.files import modified_ns, reason_of, unreadable
from reviewer.sources.binary import HEAD_BYTES, looks_binary
from reviewer.sources.ignore_files import (
    NAME,
    IgnoreRules,
    ignores_above,
    is_ignored,
    read_ignore_file,
)
from reviewer.sources.open import format_of
from reviewer.sources.own_files import OWN_FILE, is_own, own_names
from reviewer.sources.unpacked import first_bytes, plain_name


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PASSED_FOLDERS = _names(
    ".git .hg .svn .bzr .jj node_modules bower_components .venv venv virtualenv site-packages "
    "dist-packages __pycache__ .tox .nox .mypy_cache .pytest_cache .ruff_cache .hypothesis "
    ".eggs .cache .gradle .idea .vscode .next .nuxt .terraform .yarn .pnpm-store .trash .Trash "
    "vendor target dist build"
)
"""Folders of dependencies, version control, caches and build products; always skipped."""

PASSED_SUFFIXES = _names(
    ".png .jpg .jpeg .gif .webp .bmp .ico .tif .tiff .heic .avif .pdf .zip .gz .tgz .bz2 .xz .zst "
    ".7z .rar .tar .jar .war .whl .exe .dll .so .dylib .a .o .class .pyc .wasm .mp3 .mp4 .mov "
    ".avi .mkv .wav .flac .ogg .woff .woff2 .ttf .otf .eot .db .sqlite .sqlite3 .vscdb .psd "
    ".doc .docx .xls .xlsx .ppt .pptx .odt .parquet .npy .npz .gguf .safetensors .onnx"
)
CONTAINERS = (".db", ".sqlite", ".sqlite3", ".vscdb", ".zip")
"""Suffixes of databases and archives, which are read if agents keep sessions in them."""
PARTS = ("message", "part")
"""Folders beside `session`, in a session storage of OpenCode."""
IGNORE_FILE = "ignore file"
UNREADABLE_FOLDER = "folder cannot be read"
LINK_OUTSIDE = "link to a file outside the folder"


class FoundPath(Struct, frozen=True):
    """A file to be read or, with a `reason`, a file or folder that is not read."""

    path: Path
    reason: str = ""


def walk(
    paths: Sequence[Path], *, named: bool = True, store: Path | None = None
) -> Iterator[FoundPath]:
    """All files below `paths`, in name order, each real file once.

    A file named directly is always read. Below folders, ignore files (`.gitignore`) apply, links to
    folders and out of the folder are not followed, and folders of dependencies, version control,
    caches and build products, binary files and archives are skipped. Files of a
    reviewer store, such as the `store` in use, are never read. A single entry never raises an
    error. Raises SourceError at once for a named path that does not exist; with `named` false
    (matches of a pattern), such a path is skipped.
    """
    for path in paths if named else ():
        try:
            path.stat()
        except (OSError, ValueError) as error:
            raise unreadable(path, error) from None
    return _Walk(store).all_of(paths)


class _Walk:
    def __init__(self, store: Path | None) -> None:
        self._store = store
        self._seen: set[tuple[int, int]] = set()

    def all_of(self, paths: Sequence[Path]) -> Iterator[FoundPath]:
        for path in paths:
            if is_own(path, self._store):
                yield FoundPath(path, OWN_FILE)
                continue
            try:
                is_folder = path.is_dir()
                is_new = is_folder or self._is_new(os.stat(path))
            except OSError as error:
                yield FoundPath(path, f"file cannot be read: {reason_of(error)}")
                continue
            if is_folder:
                above = ignores_above(path)
                yield from (_of_ignore_file(each) for each in above if each.trouble)
                yield from self._folder(str(path), above)
            else:
                yield FoundPath(path, "" if is_new else "the same file again")

    def _is_new(self, status: os.stat_result) -> bool:
        identity = (status.st_dev, status.st_ino)
        if identity in self._seen:
            return False
        self._seen.add(identity)
        return True

    def _folder(self, folder: str, ignores: tuple[IgnoreRules, ...]) -> Iterator[FoundPath]:
        root = os.path.realpath(folder)
        pending = [(folder, ignores)]
        while pending:
            here, rules = pending.pop()
            try:
                if not self._is_new(os.stat(here)):
                    yield FoundPath(Path(here), "the same folder again")
                    continue
                with os.scandir(here) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                yield FoundPath(Path(here), f"{UNREADABLE_FOLDER}: {reason_of(error)}")
                continue
            if any(_is_ignore_file(entry) for entry in found):
                rules += (read_ignore_file(here),)
            folders = []
            names = [entry.name for entry in found]
            own = own_names(Path(here), names, self._store)
            parts = PARTS if {"session", *PARTS} <= set(names) else ()
            for entry in found:
                if entry.name in own:
                    yield FoundPath(Path(entry.path), OWN_FILE)
                elif _is_ignore_file(entry):
                    yield _of_ignore_file(rules[-1])
                elif _is_folder(entry):
                    reason = _folder_reason(entry, rules)
                    if entry.name in parts:
                        reason = "folder of parts of sessions, read with them"
                    if reason:
                        yield FoundPath(Path(entry.path), reason)
                    else:
                        folders.append((entry.path, rules))
                else:
                    yield self._file(entry, rules, root)
            pending += reversed(folders)

    def _file(
        self, entry: os.DirEntry[str], rules: tuple[IgnoreRules, ...], root: str
    ) -> FoundPath:
        path = Path(entry.path)
        container = entry.name.lower().endswith(CONTAINERS)
        suffix = os.path.splitext(plain_name(entry.name.lower()))[1]
        binary = suffix in PASSED_SUFFIXES and not container
        reason = "binary" if binary else _ignored(entry.path, rules)
        if reason:
            return FoundPath(path, reason)
        try:
            status = entry.stat()
            if entry.is_symlink() and not is_within(entry.path, root):
                return FoundPath(path, LINK_OUTSIDE)
            if not stat.S_ISREG(status.st_mode):
                return FoundPath(path, "not a regular file")
            if not self._is_new(status):
                return FoundPath(path, "the same file again")
            head = first_bytes(path, HEAD_BYTES)
            if container:
                return FoundPath(path, "" if _may_hold_sessions(path) else "binary")
            if looks_binary(head):
                return FoundPath(path, "binary")
        except OSError as error:
            return FoundPath(path, f"file cannot be read: {reason_of(error)}")
        except Exception as error:  # whatever is wrong with one file, go on to the others
            return FoundPath(
                path, f"file cannot be read: {type(error).__name__} in its first bytes"
            )
        return FoundPath(path)


def is_unreadable(reason: str) -> bool:
    """Whether a file or folder was skipped only because it cannot be read."""
    return "cannot be read" in reason


def size_and_time(path: Path, status: os.stat_result) -> tuple[int, int]:
    """Size and time (ns) of a file, and of others with contents of it: the newest rows of a
    database, or the messages of a session that is a folder of files.
    """
    others = [path.with_name(path.name + "-wal")]
    if path.parent.parent.name == "session" and path.suffix == ".json":
        others.append(path.parent.parent.parent / "message" / path.stem)
    found = [status]
    for other in others:
        with suppress(OSError):  # there is none, or it was just removed
            found.append(other.stat())
    return sum(each.st_size for each in found), max(map(modified_ns, found))


def is_within(path: str | Path, root: str) -> bool:
    """Whether a path, with links resolved, is in the folder `root` (a real path)."""
    return os.path.realpath(path).startswith(os.path.join(root, ""))


def _may_hold_sessions(path: Path) -> bool:
    """Whether a file is a database or archive of a known format, or damaged: reading it says so."""
    try:
        found = format_of(path)
    except OtherKindError:
        return False
    except SourceError:
        return True
    return bool(found.detect_tables or found.detect_members)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_ignore_file(entry: os.DirEntry[str]) -> bool:
    return entry.name == NAME and not _is_folder(entry)


def _folder_reason(entry: os.DirEntry[str], rules: tuple[IgnoreRules, ...]) -> str | None:
    if entry.is_symlink():
        return "link to a folder"
    if entry.name in PASSED_FOLDERS or entry.name.endswith((".egg-info", ".app")):
        return "folder of dependencies, caches or version control"
    return _ignored(entry.path, rules, is_folder=True)


def _ignored(path: str, rules: tuple[IgnoreRules, ...], *, is_folder: bool = False) -> str | None:
    return "ignored by .gitignore" if is_ignored(path, rules, is_folder=is_folder) else None


def _of_ignore_file(rules: IgnoreRules) -> FoundPath:
    """The ignore file itself, which is not a source."""
    return FoundPath(Path(rules.folder, NAME), rules.trouble or IGNORE_FILE)
