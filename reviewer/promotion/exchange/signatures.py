"""Signatures of files, made and checked by `ssh-keygen -Y` with people's SSH keys."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from reviewer.errors import ReviewerError
from reviewer.files import read_own, reason_of

NAMESPACE = "reviewer-decisions"
"""The purpose of a signature; one made for another purpose is invalid."""

PATTERN_SIGNS = "*?!"
"""Characters that make a name in a file of allowed signers match several people."""

LONGEST_NAME = 64
"""Characters of a name in the history."""

LARGEST_SIGNATURE = 100_000
"""Bytes."""

SECONDS = 60
"""How long `ssh-keygen` may take; it may ask for a passphrase when it signs."""


class SignatureError(ReviewerError):
    """A signature cannot be made, or is invalid."""


def sign(data: bytes, key: Path) -> bytes:
    """The signature of `data` with a private key, or a public one whose private key an agent has.

    Raises SignatureError.
    """
    done = _ssh_keygen(["-Y", "sign", "-q", "-f", str(key), "-n", NAMESPACE], data)
    if done.returncode and b"passphrase" in done.stderr.lower():
        raise SignatureError(
            f"{key} has a passphrase that could not be asked for. Add the key to the agent first: "
            f"ssh-add {key}"
        )
    if done.returncode or not done.stdout:
        raise SignatureError(f"The file cannot be signed with {key}: {_reason(done)}")
    return done.stdout


def signature_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.sig")


def signer(path: Path, data: bytes, allowed: Path) -> str:
    """The name, in the file of allowed signers, of the person who signed `data`, the content of the
    file at `path`.

    `allowed` is as `ssh-keygen(1)` describes it: a name and a public key on each line. Raises
    SignatureError if the signature is missing or of other data, or if its key is not allowed or has
    expired.
    """
    if not allowed.is_file():
        raise SignatureError(f"There is no file of allowed signers at {allowed}.")
    try:
        signature = read_own(signature_of(path), LARGEST_SIGNATURE)
    except OSError as problem:
        raise SignatureError(
            f"The signature {signature_of(path)} cannot be read: {reason_of(problem)}. Files"
            " without one do not count."
        ) from problem
    with tempfile.TemporaryDirectory(prefix="reviewer-signature-") as folder:
        kept = Path(folder) / "signature"
        kept.write_bytes(signature)
        found = _ssh_keygen(
            ["-Y", "find-principals", "-s", str(kept), "-f", str(allowed), "-n", NAMESPACE], b""
        )
        names = found.stdout.decode("utf-8", "replace").split("\n")[0].split(",")
        if found.returncode or not names[0].strip():
            raise SignatureError(
                f"Nobody in {allowed} has signed this with a key that is valid now: "
                f"{_reason(found)}"
            )
        name = names[0].strip()
        if len(name) > LONGEST_NAME or not name.isprintable() or set(name) & set(PATTERN_SIGNS):
            raise SignatureError(
                f"{allowed} has {name[:20]!r} for this key, which cannot be in the history. Write "
                f"the name of the person: 1 to {LONGEST_NAME} characters in one line, no pattern."
            )
        done = _ssh_keygen(
            ["-Y", "verify", "-f", str(allowed), "-I", name, "-n", NAMESPACE, "-s", str(kept)], data
        )
    if done.returncode:
        raise SignatureError(f"The signature of {name} is invalid: {_reason(done)}")
    return name


def _ssh_keygen(arguments: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise SignatureError("Signatures need ssh-keygen, which is not installed (OpenSSH 8.2).")
    try:
        return subprocess.run(  # noqa: S603
            [program, *arguments], input=data, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise SignatureError(f"ssh-keygen has not answered within {SECONDS} s.") from None


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    text = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
    return text.split("\n")[-1] or f"ssh-keygen ended with {done.returncode}."
