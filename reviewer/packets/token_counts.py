"""Token counts of the pieces of a packet, cached between calls.

A piece starts with a visible character and is followed by one or two line ends. The encodings
split after line ends, so the token count of a packet is exactly the sum over its pieces.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from reviewer import __version__
from reviewer.files import make_private_folder, read_own, write_atomic
from reviewer.text.for_agents import AgentText, as_markdown, masked_markdown

ESTIMATE = "estimate"
"""Name of the counter that takes four bytes for one token."""

MOST_FILES = 64
"""Number of files in the cache folder; the oldest are deleted."""

_KEY_BYTES = 12


class CountedText(Struct, frozen=True):
    """A text without secrets and control characters, with its token counts.

    `tokens` counts the text and one line end, `gap` what an empty line after it adds.
    """

    text: AgentText
    tokens: int
    gap: int
    masked: int = 0
    """Number of masked secrets."""

    @property
    def cost(self) -> int:
        """The most tokens that the piece can add to a packet."""
        return self.tokens + max(self.gap, 0)


class Measurer:
    """Turns texts into pieces. Loads the encoding only for a text that was never counted before."""

    def __init__(self, counting: str, cache: CountCache | None = None) -> None:
        """`counting`: the name of an encoding, or `estimate`."""
        self.name = counting
        self.loaded = False
        """Whether the encoding was loaded."""
        self.measured = False
        """Whether a text had to be looked at that the cache did not have."""
        self._cache = cache
        self._count: Callable[[str], int] | None = estimate if counting == ESTIMATE else None
        self._pieces: dict[str, CountedText] = {}

    def piece(self, text: str) -> CountedText:
        """The piece of a text. Raises ReviewerError when the encoding is not installed."""
        found = self._known(text)
        if found is None:
            found = self._counted(text)
            if self._cache:
                self._cache.put(text, found)
        self._pieces[text] = found
        return found

    def keep(self, *, forget: bool = False) -> str:
        """Write the counts to the cache; returns a warning if that is not possible.

        `forget`: drop the cached counts that were not used this time.
        """
        return self._cache.write(forget=forget) if self._cache else ""

    def safe_text(self, text: str) -> AgentText:
        """The text with secrets masked and control characters replaced, without counting it."""
        found = self._known(text)
        if found is None and self._count is not None:
            found = self.piece(text)  # counting is cheap now, and the cache gets it
        return found.text if found else safe_text(text)

    def _known(self, text: str) -> CountedText | None:
        found = self._pieces.get(text)
        return found or (self._cache.get(text) if self._cache else None)

    def _counted(self, text: str) -> CountedText:
        if self._count is None:
            from reviewer.text.tokens import counter  # late: loading an encoding takes 0.2 s

            self._count = counter(self.name).count
            self.loaded = True
        self.measured = True
        count = self._count
        safe, masked = masked_markdown(text)
        last = safe.rpartition("\n")[2]
        gap = count(f"{last}\n\n") - count(f"{last}\n")
        return CountedText(safe, count(f"{safe}\n"), gap, masked)


def estimate(text: str) -> int:
    """A quarter of the number of bytes, rounded up."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def safe_text(text: str) -> AgentText:
    """The text with secrets masked, control characters replaced, and nothing live in it."""
    return as_markdown(text)


class CountCache:
    """Pieces of one source in one encoding, in a private file in the user's cache folder.

    Measured on a folder of 184 kB: a call takes 105 ms of CPU time with the cache, 350 ms without,
    most of it for loading the encoding. It is used for every budget, task and date, and is safe to
    delete. Texts are stored as hashes, except those that were changed by masking, which are stored
    masked.
    """

    def __init__(self, source: str, encoding: str, folder: Path | None = None) -> None:
        """`source` names what is counted: the path of a folder, or of a store with a project."""
        self._format = f"counts {encoding} {_code_stamp()}"
        name = blake2b(f"{encoding}\0{source}".encode("utf-8", "replace"), digest_size=16)
        self.path = (folder or _cache_folder()) / f"{name.hexdigest()}.json"
        self.problem = ""
        """Why the cache could not be read, as a sentence; otherwise empty."""
        self._cached: dict[str, list[int | str]] = {}
        self._used: dict[str, list[int | str]] = {}
        self._changed = False
        self._read()

    def get(self, text: str) -> CountedText | None:
        """The cached piece of a text."""
        key = _key(text)
        found = self._cached.get(key)
        if found is None:
            return None
        self._used[key] = found
        tokens, gap, masked, *changed = found
        safe = AgentText(str(changed[0]) if changed else text)
        return CountedText(safe, int(tokens), int(gap), int(masked))

    def put(self, text: str, piece: CountedText) -> None:
        """Add a piece; `write` stores it."""
        changed = [] if piece.text == text else [piece.text]
        self._used[_key(text)] = [piece.tokens, piece.gap, piece.masked, *changed]
        self._changed = True

    def write(self, *, forget: bool = False) -> str:
        """Write new counts; `forget` drops those that were not used.

        Returns a warning if the cache could not be read or written, otherwise an empty string.
        """
        if not self._changed:
            return self.problem
        counts = self._used if forget else {**self._cached, **self._used}
        text = json.dumps({"format": self._format, "counts": counts}, separators=(",", ":"))
        folder = self.path.parent
        try:
            make_private_folder(folder)
            write_atomic(self.path, text.encode(), durable=False)
            _delete_oldest(folder)
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            return f"Token counts cannot be cached in {folder}: {reason}. Calls take longer."
        self._changed = False
        return self.problem

    def _read(self) -> None:
        try:
            read = json.loads(read_own(self.path))
            if read["format"] == self._format:
                self._cached = {key: _checked(value) for key, value in read["counts"].items()}
        except FileNotFoundError:
            return
        except OSError as problem:
            self.problem = f"The token counts in {self.path} cannot be read: {problem.strerror}."
        except (ValueError, TypeError, KeyError, AttributeError):
            self.problem = f"The token counts in {self.path} are damaged; counting again."
            self._cached = {}


def _cache_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("reviewer", appauthor=False) / "packets"


def _code_stamp() -> str:
    """Changes with the code that masks and counts, so that cached pieces are never outdated."""
    text = Path(__file__).parent.parent / "text"
    newest = max(
        entry.stat().st_mtime_ns
        for folder in (Path(__file__).parent, text, text / "secrets")
        for entry in os.scandir(folder)
        if entry.name.endswith(".py")
    )
    return f"{__version__} {newest}"


def _delete_oldest(folder: Path) -> None:
    found = [(entry.stat().st_mtime_ns, entry.path) for entry in os.scandir(folder)]
    for _, path in sorted(found)[:-MOST_FILES]:
        Path(path).unlink(missing_ok=True)


def _checked(value: list[int | str]) -> list[int | str]:
    tokens, gap, masked, *changed = value
    if type(tokens) is not int or type(gap) is not int or type(masked) is not int or tokens < 0:
        raise ValueError("not token counts")
    if len(changed) > 1 or (changed and type(changed[0]) is not str):
        raise ValueError("not a text")
    return value


def _key(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).hexdigest()
