"""Counts of earlier calls in the user's cache folder, so that a call needs no encoder.

Safe to delete: whatever is missing, damaged or of another version is counted again.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path

from reviewer.packets.cache_files import cache_folder, code_stamp, write_privately
from reviewer.packets.measuring import Piece

_KEY_BYTES = 12


class CountCache:
    """Pieces of one source in one encoding, in one file that only its owner can read.

    A text is known by its hash. What was masked or made harmless is kept as it may be shown;
    of everything else only the numbers are.
    """

    def __init__(self, source: str, encoding: str, folder: Path | None = None) -> None:
        """`source` names what is counted: a folder's path, a store's path and a project."""
        self._header = f"counts {encoding} {code_stamp()}"
        name = blake2b(f"{encoding}\0{source}".encode("utf-8", "replace"), digest_size=16)
        self.path = (folder or cache_folder()) / f"{name.hexdigest()}.json"
        self._problem = ""
        self._known: dict[str, list[int | str]] = {}
        self._used: dict[str, list[int | str]] = {}
        self._changed = False
        self._read()

    @property
    def problem(self) -> str:
        """Why what was kept could not be used or written, as a sentence; empty when it could."""
        return self._problem

    def get(self, text: str) -> Piece | None:
        """What is kept of a text."""
        key = _key(text)
        found = self._known.get(key)
        if found is None:
            return None
        tokens, gap, masked, *shown = found
        piece = Piece(str(shown[0]) if shown else text, int(tokens), int(gap), int(masked))
        self._used[key] = found
        return piece

    def put(self, text: str, piece: Piece) -> None:
        """Keep a piece when `write` is called."""
        shown = [] if piece.text == text else [piece.text]
        self._used[_key(text)] = [piece.tokens, piece.gap, piece.masked, *shown]
        self._changed = True

    def write(self, *, forget: bool = False) -> None:
        """Write what is new, in one step; `forget` leaves out what was not used this time."""
        if not self._changed:
            return
        counts = self._used if forget else {**self._known, **self._used}
        text = json.dumps({"format": self._header, "counts": counts}, separators=(",", ":"))
        trouble = write_privately(self.path, text)
        self._changed = bool(trouble)
        self._problem = trouble or self._problem

    def _read(self) -> None:
        try:
            read = json.loads(self.path.read_bytes())
            if read["format"] == self._header:
                self._known = {key: _checked(value) for key, value in read["counts"].items()}
        except FileNotFoundError:
            return
        except OSError as problem:
            self._problem = f"The counts in {self.path} cannot be read: {problem.strerror}."
        except (ValueError, TypeError, KeyError, AttributeError):
            self._problem = f"The counts in {self.path} are damaged; everything is counted again."
            self._known = {}


def _checked(value: list[int | str]) -> list[int | str]:
    tokens, gap, masked, *shown = value
    if type(tokens) is not int or type(gap) is not int or type(masked) is not int or tokens < 0:
        raise ValueError("no counts")
    if len(shown) > 1 or (shown and type(shown[0]) is not str):
        raise ValueError("no text")
    return value


def _key(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).hexdigest()
