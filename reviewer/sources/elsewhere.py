"""Remote files by URL: `s3://`, and others supported by fsspec."""

from __future__ import annotations

import inspect
import os
import re
from typing import Any
from urllib.parse import urlsplit

import msgspec

from reviewer.errors import SourceError
from reviewer.installation import extra_command

EXCERPT_AT = "excerpt_at"
"""Key in the `meta` of a record whose text is an excerpt: the offset of its first character."""
OPTIONS_VARIABLE = "REVIEWER_FSSPEC"
"""A JSON object with fsspec options by protocol: `{"s3": {"endpoint_url": "..."}}`."""

CONNECT_SECONDS, ANSWER_SECONDS = 10, 30
"""Timeouts for connecting and for the next bytes, unless set by options. By default s3fs gives
up on a stalled file after five minutes."""


def is_url(name: str) -> bool:
    """Whether a name is the URL of a remote file."""
    scheme, mark, _ = name.partition("://")
    return bool(mark) and scheme.replace("+", "").isalnum()


def file_system(url: str) -> Any:
    """The fsspec file system of a URL. Raises SourceError."""
    protocol = urlsplit(url).scheme
    try:
        import fsspec
    except ModuleNotFoundError as missing:
        raise SourceError(
            f"{url} is remote. To read it, install: {extra_command('fleet')}"
        ) from missing
    try:
        made = fsspec.get_filesystem_class(protocol)
        options = {**_timeouts(protocol), **_options().get(protocol, {})}
        inspect.signature(made.__init__).bind(
            None, **options
        )  # one built in part says so in __del__
        return made(**options)
    except ImportError as missing:
        raise SourceError(
            f"{url} cannot be opened ({missing}): {extra_command('fleet')}"
        ) from missing
    except (TypeError, ValueError) as problem:  # an option is missing or wrong
        raise SourceError(
            f"{url} cannot be opened: {problem}. {OPTIONS_VARIABLE} has its options as JSON: see"
            " docs/fleet.md."
        ) from problem
    except OSError as problem:  # some connect immediately
        raise SourceError(trouble(url, problem)) from problem


def _timeouts(protocol: str) -> dict[str, Any]:
    if protocol not in ("s3", "s3a"):
        return {}
    limits = {"connect_timeout": CONNECT_SECONDS, "read_timeout": ANSWER_SECONDS}
    return {"config_kwargs": {**limits, "retries": {"max_attempts": 1, "mode": "standard"}}}


def _options() -> dict[str, dict[str, Any]]:
    text = os.environ.get(OPTIONS_VARIABLE, "")
    if not text:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, dict[str, Any]])
    except msgspec.DecodeError as problem:
        raise SourceError(
            f"{OPTIONS_VARIABLE} is not a JSON object of objects: {problem}. Write for example "
            '{"s3": {"endpoint_url": "https://..."}}'
        ) from problem


def trouble(url: str, problem: BaseException) -> str:
    """Why a remote file or folder cannot be used, as a sentence."""
    detail = " ".join(str(problem).split())[:200] or type(problem).__name__
    if isinstance(problem, PermissionError):
        return f"{url} cannot be read: access denied (403). Check the credentials and the policy."
    if isinstance(problem, FileNotFoundError):
        return f"{url} does not exist: check the address."
    if isinstance(problem, TimeoutError) or re.search("time(d )?out", detail, re.IGNORECASE):
        return f"{url} cannot be read: it did not answer in time ({detail})."
    return f"{url} cannot be read: {detail}."
