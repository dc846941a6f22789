"""Files that may be local or in a bucket: their names without secrets, and copies to read."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from reviewer.errors import SourceError
from reviewer.fleet.values import SourceFile
from reviewer.sources.elsewhere import file_system, is_url, trouble
from reviewer.text.secrets import mask

_SIGNATURE = re.compile(r"(?i)([?&](?:[\w-]*signature|sig|[\w-]*token)=)[^&#\s]+")
"""In an address that lets everybody who has it read the file."""


def require_no_password(url: str) -> None:
    """Raise SourceError for a URL with a password, which would be written where it is cited."""
    try:
        parts = urlsplit(url)
        scheme, hidden = parts.scheme, parts.password or ("http" in parts.scheme and parts.username)
    except ValueError as problem:
        raise SourceError(f"{without_secrets(url)} is not a URL: {problem}.") from None
    if hidden:
        raise SourceError(
            f"An address of {scheme}:// has a password in it, which would be written down wherever "
            "the file is cited. Leave it out, and give it in REVIEWER_FSSPEC: see docs/fleet.md."
        )


def said_of(url: str, problem: BaseException) -> str:
    """Why a URL cannot be used: a sentence without secrets."""
    return without_secrets(trouble(url, problem))


def without_secrets(text: str) -> str:
    """A path, a URL or a sentence with one, its secrets masked."""
    return _SIGNATURE.sub(r"\1[masked url-signature]", mask(text).text)


def source_file(
    path: str, size: int, modified_ns: int, etag: str = "", why: str = ""
) -> SourceFile:
    """A file that was listed. `why`: the reason for which it cannot be read."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    name = without_secrets(text)
    if text != path:
        why = why or "its name is not text in UTF-8. Rename it"
    if name != text:
        why = "its name has a secret in it, and every row cites it. Rename it"
    problem = f"{name} cannot be read: {why.rstrip('.')}." if why else ""
    return SourceFile(name, size, modified_ns, etag, problem)


@contextmanager
def local_copy(name: str) -> Iterator[Path]:
    """The file on this machine: itself, or a copy until the end of the block.

    The copy keeps the names of the last folders, by which some kinds of files are told apart.
    Raises SourceError.
    """
    if not is_url(name):
        yield Path(name)
        return
    with tempfile.TemporaryDirectory(prefix="reviewer-", ignore_cleanup_errors=True) as folder:
        parts = [each for each in urlsplit(name).path.split("/") if each not in ("", "..")]
        target = Path(folder, *(each[-200:] for each in parts[-5:] or ["file"]))
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            file_system(name).get_file(name, str(target))
        except SourceError:
            raise
        except Exception as problem:  # each file system raises errors of its own
            raise SourceError(said_of(name, problem)) from problem
        yield target
