"""What a commit that is written by hand may be: its role, its type, its name."""

from __future__ import annotations

import re

from msgspec import Struct

from reviewer.commits.contents import prepare
from reviewer.commits.values import COMMIT_TYPES
from reviewer.errors import ReviewerError
from reviewer.sources.records import Role

LONGEST_NAME = 200
_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TYPE_OF_ROLE = {
    Role.USER: "dialogue",
    Role.ASSISTANT: "dialogue",
    Role.SYSTEM: "instruction",
    Role.TOOL: "tool_result",
    Role.NOTE: "artifact",
}


class Shape(Struct, frozen=True):
    """Role, type and name of a commit."""

    role: str
    type: str
    name: str = ""


def shape_of(given: Shape) -> Shape:
    """What was given, checked, with the type of the role where none was given.

    Any type may be used beside those of COMMIT_TYPES. Raises ReviewerError.
    """
    roles = [str(role) for role in Role]
    if given.role not in roles:
        raise ReviewerError(f'There is no role "{given.role}"; choose {", ".join(roles)}.')
    kind = given.type or _TYPE_OF_ROLE[Role(given.role)]
    if not _TYPE.fullmatch(kind):
        raise ReviewerError(
            f'"{kind}" is no type: small letters, digits and _, such as {", ".join(COMMIT_TYPES)}.'
        )
    name = prepare(given.name.strip()).text
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise ReviewerError(f"A name has at most {LONGEST_NAME} printable characters.")
    return Shape(given.role, kind, name)
