"""Finds a folder's file system in the list of mounts, without touching or mounting anything."""

from __future__ import annotations

import os
import re
from pathlib import Path

NETWORK = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "9p", "fuse.sshfs", "fuse.glusterfs",
    "fuse.s3fs", "fuse.rclone", "lustre", "beegfs", "gpfs", "ocfs2", "gfs2", "davfs", "fuse.davfs2",
})  # fmt: skip
"""File systems that several hosts may write to; SQLite's log needs memory shared by all writers."""
_MOUNTS_WHEN_TOUCHED = "autofs"
_OCTAL = re.compile(r"\\([0-7]{3})")


def network_file_system(folder: Path) -> str:
    """The type of a folder's network file system; empty for a local one."""
    kind = _file_system(os.path.realpath(folder), _listed())
    return kind if _is_network(kind) else ""


def is_on_local_disk(folder: str, mounts: str | None = None) -> bool:
    """Whether a folder, which need not exist, is on a mounted file system that is not a network's.
    False if the system does not say.

    `mounts`: the lines of `/proc/self/mountinfo`, read by default.
    """
    kind = _file_system(folder, _listed() if mounts is None else mounts)
    return bool(kind) and kind != _MOUNTS_WHEN_TOUCHED and not _is_network(kind)


def _is_network(kind: str) -> bool:
    return kind in NETWORK or kind.startswith("nfs")


def _listed() -> str:
    try:
        return Path("/proc/self/mountinfo").read_text("utf-8", "replace")
    except OSError:
        return ""  # not Linux


def _file_system(folder: str, mounts: str) -> str:
    """The type of the file system of a folder; empty if it is not listed."""
    kind, longest = "", -1
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        point = _OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[4])
        below = folder == point or folder.startswith(point.rstrip(os.sep) + os.sep)
        if below and len(point) >= longest:  # a later mount covers an earlier one
            kind, longest = right.split(" ", 1)[0], len(point)
    return kind
