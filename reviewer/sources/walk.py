"""Finding the files to read below the paths a person names."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.errors import SourceError
from reviewer.sources.binary import HEAD_BYTES, looks_binary

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PASSED_FOLDERS = _names(
    ".git .hg .svn .bzr .jj node_modules bower_components .venv venv virtualenv site-packages "
    "dist-packages __pycache__ .tox .nox .mypy_cache .pytest_cache .ruff_cache .hypothesis "
    ".eggs .cache .gradle .idea .vscode .next .nuxt .terraform .yarn .pnpm-store .trash .Trash "
    "vendor target dist build"
)
"""Dependencies, version control, caches and build products; never looked into."""

PASSED_SUFFIXES = _names(
    ".png .jpg .jpeg .gif .webp .bmp .ico .tif .tiff .heic .avif .pdf .zip .gz .tgz .bz2 .xz .zst "
    ".7z .rar .tar .jar .war .whl .exe .dll .so .dylib .a .o .class .pyc .wasm .mp3 .mp4 .mov "
    ".avi .mkv .wav .flac .ogg .woff .woff2 .ttf .otf .eot .db .sqlite .sqlite3 .vscdb .psd "
    ".doc .docx .xls .xlsx .ppt .pptx .odt .parquet .npy .npz .gguf .safetensors .onnx"
)
LOCK_FILES = _names(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock poetry.lock uv.lock "
    "pdm.lock pipfile.lock cargo.lock composer.lock gemfile.lock go.sum flake.lock mix.lock "
    "podfile.lock packages.lock.json"
)


IGNORE_FILE = "ignore file"


class Found(Struct, frozen=True):
    """A file to be read."""

    path: Path


class PassedOver(Struct, frozen=True):
    """A file or folder that is not read, and why."""

    path: Path
    reason: str


def walk(paths: Sequence[Path]) -> Iterator[Found | PassedOver]:
    """All files below `paths`, in order of their names, each real file once.

    A file that is named itself is always found. Below folders, ignore files (`.gitignore`) hold,
    links to folders are not followed, and folders of dependencies, version control, caches and
    build products, binary files, archives and lock files are passed over. Never raises for
    a single entry. Raises SourceError at once for a named path that does not exist.
    """
    for path in paths:
        try:
            path.stat()
        except (OSError, ValueError) as error:
            missing = isinstance(error, FileNotFoundError)
            reason = "does not exist: check the path" if missing else f"cannot be read: {error}"
            raise SourceError(f"{path} {reason}.") from None
    return _Walk().all_of(paths)


class _Ignore(Struct):
    """The patterns of one ignore file, and the folder they are relative to."""

    folder: str
    patterns: GitIgnoreSpec


class _Walk:
    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()

    def all_of(self, paths: Sequence[Path]) -> Iterator[Found | PassedOver]:
        for path in paths:
            if path.is_dir():
                yield from self._folder(str(path), _ignores_above(path))
            elif self._is_new(os.stat(path)):
                yield Found(path)
            else:
                yield PassedOver(path, "the same file again")

    def _is_new(self, status: os.stat_result) -> bool:
        identity = (status.st_dev, status.st_ino)
        if identity in self._seen:
            return False
        self._seen.add(identity)
        return True

    def _folder(self, folder: str, ignores: tuple[_Ignore, ...]) -> Iterator[Found | PassedOver]:
        pending = [(folder, ignores)]
        while pending:
            here, rules = pending.pop()
            try:
                if not self._is_new(os.stat(here)):
                    yield PassedOver(Path(here), "the same folder again")
                    continue
                with os.scandir(here) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                yield PassedOver(Path(here), f"folder cannot be read: {_why(error)}")
                continue
            rules += _ignore_file(here, any(entry.name == ".gitignore" for entry in found))
            folders = []
            for entry in found:
                if self._is_folder(entry):
                    reason = _folder_reason(entry, rules)
                    if reason:
                        yield PassedOver(Path(entry.path), reason)
                    else:
                        folders.append((entry.path, rules))
                else:
                    yield self._file(entry, rules)
            pending += reversed(folders)

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir()
        except OSError:
            return False

    def _file(self, entry: os.DirEntry[str], rules: tuple[_Ignore, ...]) -> Found | PassedOver:
        path = Path(entry.path)
        reason = _name_reason(entry.name) or _ignored(entry.path, rules)
        if reason == IGNORE_FILE and not os.access(entry.path, os.R_OK):
            return PassedOver(path, "ignore file cannot be read")
        if reason:
            return PassedOver(path, reason)
        try:
            status = entry.stat()
            if not stat.S_ISREG(status.st_mode):
                return PassedOver(path, "no ordinary file")
            if not self._is_new(status):
                return PassedOver(path, "the same file again")
            with open(entry.path, "rb") as stream:
                if looks_binary(stream.read(HEAD_BYTES)):
                    return PassedOver(path, "binary")
        except OSError as error:
            return PassedOver(path, f"file cannot be read: {_why(error)}")
        return Found(path)


def _folder_reason(entry: os.DirEntry[str], rules: tuple[_Ignore, ...]) -> str | None:
    if entry.is_symlink():
        return "link to a folder"
    if entry.name in PASSED_FOLDERS or entry.name.endswith((".egg-info", ".app")):
        return "folder of dependencies, caches or version control"
    return _ignored(entry.path + "/", rules)


def _name_reason(name: str) -> str | None:
    lower = name.lower()
    if lower in LOCK_FILES:
        return "lock file"
    if os.path.splitext(lower)[1] in PASSED_SUFFIXES:
        return "binary"
    return IGNORE_FILE if name == ".gitignore" else None


def _ignore_file(folder: str, present: bool) -> tuple[_Ignore, ...]:
    """The rules of a folder's own ignore file."""
    if not present:
        return ()
    from pathspec import GitIgnoreSpec

    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return (_Ignore(folder, GitIgnoreSpec.from_lines(file)),)
    except (OSError, ValueError):
        return ()  # `_file` says that it cannot be read


def _ignores_above(folder: Path) -> tuple[_Ignore, ...]:
    """Ignore files between a repository's root and a folder inside it.

    None when they exclude that very folder: what a person names is read.
    """
    here = Path(os.path.abspath(folder))
    above = [here, *here.parents]
    root = next((n for n, each in enumerate(above) if (each / ".git").exists()), 0)
    rules: tuple[_Ignore, ...] = ()
    for each in reversed(above[1 : root + 1]):
        rules += _ignore_file(str(each), (each / ".gitignore").is_file())
    return () if _ignored(f"{here}/", rules) else rules


def _ignored(path: str, rules: tuple[_Ignore, ...]) -> str | None:
    """A reason when an ignore file excludes the path; the nearest file that speaks decides."""
    for rule in reversed(rules):
        relative = os.path.relpath(path, rule.folder)
        if path.endswith("/"):
            relative += "/"
        verdict = rule.patterns.check_file(relative).include
        if verdict is not None:
            return "ignored by .gitignore" if verdict else None
    return None


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
