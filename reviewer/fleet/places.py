"""Files that are local or in a bucket: names without secrets, and local copies."""

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
"""The part of a signed address that lets everybody read the file."""


def require_no_password(url: str) -> None:
    """Raise SourceError for a URL with a password, because rows cite the URL."""
    try:
        parts = urlsplit(url)
        scheme, hidden = parts.scheme, parts.password or ("http" in parts.scheme and parts.username)
    except ValueError as problem:
        raise SourceError(f"{masked_place(url)} is not a URL: {problem}.") from None
    if hidden:
        raise SourceError(
            f"An address of {scheme}:// has a password in it, and every row cites the address. Put "
            "the password into REVIEWER_FSSPEC: see docs/fleet.md."
        )


def url_problem(url: str, problem: BaseException) -> str:
    """A sentence about a URL that cannot be used, without secrets."""
    return masked_place(trouble(url, problem))


def masked_place(text: str) -> str:
    """A path or URL, or a sentence with one, with secrets masked."""
    return _SIGNATURE.sub(r"\1[masked url-signature]", mask(text).text)


def source_file(
    path: str, size: int, modified_ns: int, etag: str = "", why: str = ""
) -> SourceFile:
    """A listed file. `why`: the reason if it cannot be read."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    name = masked_place(text)
    if text != path:
        why = why or "its name is not text in UTF-8. Rename it"
    if name != text:
        why = "its name has a secret in it, and every row cites it. Rename it"
    problem = f"{name} cannot be read: {why.rstrip('.')}." if why else ""
    return SourceFile(name, size, modified_ns, etag, problem)


@contextmanager
def local_copy(name: str) -> Iterator[Path]:
    """The file on this machine: itself, or a copy until the end of the block.

    The copy keeps the names of the last folders, because some formats are recognised by them.
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
            raise SourceError(url_problem(name, problem)) from problem
        yield target
