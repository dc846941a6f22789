"""A store shared by a group on one host: its files, and each person's own files beside it.

The store, its log and the reports of waves are the group's. Drafts, runs, backups and notes of
agents are personal, in files and folders that end in the login name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from reviewer.errors import StoreError
from reviewer.files import (
    FILE_MODE,
    FOLDER_MODE,
    is_own,
    login_name,
    make_private_folder,
    reason_of,
)
from reviewer.mounts import network_file_system

GROUP_FILE, GROUP_FOLDER = 0o660, 0o2770
"""The folder passes its group on to files created in it."""

COMMON = "-waves"
PERSONAL = (
    "-drafts", "-edit-drafts", "-retention-drafts", "-session-drafts", "-summary-drafts",
    "-answers", "-agents", ".places.json", ".readings",
)  # fmt: skip
"""Suffixes of files and folders beside the store that are renamed when sharing begins or ends.
Backups and runs stay, because their paths are recorded.
"""

BESIDE = (COMMON, *PERSONAL, "-runs", "-backups", "-forgetting", "-wal", "-shm", "-journal")
"""All suffixes of files beside the store; personal ones of a shared store end in the login name."""


class Sharing(NamedTuple):
    """Who may open a store. `group` is empty for a private one."""

    group: str
    owner: str
    left_alone: tuple[Path, ...] = ()
    """Files of other members, whose modes only these can change."""


def is_shared(store: Path) -> bool:
    """Whether a group may write to the store."""
    try:
        mode = store.stat().st_mode
    except OSError:
        return False
    return mode & 0o060 == 0o060


def personal(store: Path, what: str) -> Path:
    """A person's file or folder beside a store, such as `-drafts`."""
    mine = f".{login_name()}" if is_shared(store) else ""
    return store.with_name(f"{store.name}{what}{mine}")


def make_report_folder(folder: Path, store: Path) -> int:
    """Create the folder of a wave's report; returns the mode of its files. Raises OSError."""
    if not is_shared(store):
        make_private_folder(folder.parent)
        make_private_folder(folder)
        return FILE_MODE
    for each in (folder.parent, folder):
        each.mkdir(mode=GROUP_FOLDER & 0o777, exist_ok=True)
        if is_own(each):
            each.chmod(GROUP_FOLDER)  # the umask removed the group's rights
    return GROUP_FILE


def sharing(store: Path) -> Sharing:
    """Who may open a store. Raises StoreError if there is none."""
    found = _stat(store)
    import pwd

    try:
        owner = pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        owner = str(found.st_uid)
    return Sharing(_group_name(found.st_gid) if is_shared(store) else "", owner)


def share(store: Path, group: str) -> Sharing:
    """Let the members of a group open the store and decide in it.

    The folder of the store gets the group's rights too, so it must have nothing else in it. Raises
    StoreError if something prevents it; nothing is changed then.
    """
    number = _group_number(group)
    _require_owner(store)
    folder = store.parent
    if system := network_file_system(folder):
        raise StoreError(
            f"{folder} is on a network share ({system}), where writers on several hosts would "
            "damage the store. Keep it on a local disk of one host, to which people connect by ssh."
        )
    strangers = [each for each in sorted(folder.iterdir()) if not each.name.startswith(store.name)]
    if strangers:
        raise StoreError(
            f"{folder} also contains other things, such as {strangers[0].name}, which the group "
            "could then change. Put the store in a folder of its own, and name it with --db."
        )
    if not is_own(folder):
        raise StoreError(f"{folder} belongs to another user: sharing the store needs its owner.")
    closed = _closed_to(folder.absolute().parent, number)
    if closed is not None:
        raise StoreError(
            f"Members of {group} cannot reach the store, because {closed} is closed to them. Put "
            "it in a folder that they can enter, such as one in /srv, and name it with --db."
        )
    own: list[Path] = []
    others: list[Path] = []
    for path in _of_group(store):
        (own if is_own(path) else others).append(path)
    left = tuple(path for path in others if not _is_of_group(path, number))
    if in_use := [path for path in left if path.parent == folder and path.is_file()]:
        raise StoreError(
            f"{in_use[0]} belongs to another user, who has the store open: share it after they "
            "have closed it."
        )
    before = {path: path.stat() for path in own}
    try:
        for path in own:
            os.chown(path, -1, number)
            path.chmod(GROUP_FOLDER if path.is_dir() else GROUP_FILE)
    except OSError as problem:
        for path, was in before.items():
            os.chown(path, -1, was.st_gid)
            path.chmod(stat.S_IMODE(was.st_mode))
        raise StoreError(
            f"{problem.filename or store} cannot be given to group {group}: {reason_of(problem)}."
        ) from problem
    _rename_personal(store, shared_now=False)
    return sharing(store)._replace(left_alone=_outermost(left))


def _is_of_group(path: Path, number: int) -> bool:
    """Whether another user's file or folder already has the group's rights."""
    found = path.stat()
    wanted = 0o070 if stat.S_ISDIR(found.st_mode) else 0o060
    return found.st_gid == number and found.st_mode & wanted == wanted


def stop_sharing(store: Path) -> Sharing:
    """Make a store private again. Raises StoreError."""
    _require_owner(store)
    left = []
    for path in _of_group(store):
        if is_own(path):
            path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)
        else:
            left.append(path)
    _rename_personal(store, shared_now=True)
    found = sharing(store)
    return Sharing(found.group, found.owner, _outermost(left))


def _outermost(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths, except those inside another one of them."""
    return tuple(path for path in paths if path.parent not in paths)


def _of_group(store: Path) -> Iterator[Path]:
    """The group's files: the folder of the store, the store, its log and the reports."""
    yield store.parent
    for suffix in ("", "-wal", "-shm"):
        path = store.with_name(store.name + suffix)
        if path.exists():
            yield path
    reports = store.with_name(store.name + COMMON)
    if reports.is_dir():
        yield reports
        yield from (each for each in sorted(reports.rglob("*")) if not each.is_symlink())


def _rename_personal(store: Path, *, shared_now: bool) -> None:
    """Rename the owner's files beside the store."""
    for what in PERSONAL:
        plain = store.with_name(store.name + what)
        named = plain.with_name(f"{plain.name}.{login_name()}")
        before, after = (named, plain) if shared_now else (plain, named)
        if before.exists() and not after.exists():
            before.rename(after)


def _require_owner(store: Path) -> None:
    _stat(store)
    if not is_own(store):
        raise StoreError(f"{store} belongs to {sharing(store).owner}, who alone can share it.")


def _stat(store: Path) -> os.stat_result:
    if os.name != "posix":
        raise StoreError("Sharing needs file permissions of groups, which this system lacks.")
    try:
        return store.stat()
    except FileNotFoundError as problem:
        raise StoreError(f"There is no store at {store}: {reason_of(problem)}.") from problem
    except OSError as problem:
        raise StoreError(f"{store} cannot be opened: {reason_of(problem)}.") from problem


def _group_number(group: str) -> int:
    if os.name != "posix":
        raise StoreError("Sharing needs file permissions of groups, which this system lacks.")
    import grp

    try:
        number = grp.getgrnam(group).gr_gid
    except KeyError:
        raise StoreError(f"There is no group {group}. See: getent group") from None
    if os.geteuid() != 0 and number not in {os.getegid(), *os.getgroups()}:
        raise StoreError(f"You are not a member of {group}: only members can share with it.")
    return number


def _group_name(number: int) -> str:
    import grp

    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _closed_to(folder: Path, group: int) -> Path | None:
    """The first folder on the way that members of a group cannot enter."""
    for each in (folder, *folder.parents):
        found = each.stat()
        by_group = found.st_gid == group and found.st_mode & stat.S_IXGRP
        if not (by_group or found.st_mode & stat.S_IXOTH):
            return each
    return None
