"""The address and key of a model, from the settings alone.

No key is taken from the environment unless the settings name its variable.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from reviewer.llm.model import ModelError
from reviewer.settings import ModelSettings

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
KEY = re.compile(r"[\x21-\x7e]+")


class Endpoint(Struct, frozen=True):
    """A checked endpoint. `host`: with its port; `key`: empty for none."""

    base_url: str
    host: str
    model: str
    key: str
    local: bool
    """Whether it is on this machine."""

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r}, {self.model!r})"


def check_endpoint(settings: ModelSettings) -> None:
    """Raise ModelError if the settings have no usable endpoint; reads no environment."""
    if not settings.base_url.strip():
        raise ModelError(
            "No model is configured. Set base_url and name under [model] in the settings "
            "(reviewer config show says where they are)."
        )
    if not settings.name.strip():
        raise ModelError("No model is named. Set name under [model] in the settings.")
    if settings.key_variable and VARIABLE.fullmatch(settings.key_variable) is None:
        raise ModelError(
            "key_variable under [model] must be the name of an environment variable, such as "
            "MODEL_KEY, and not a key itself."
        )
    url = _split(settings.base_url.strip())
    if url.scheme == "http" and not settings.allow_http and not is_this_machine(url.hostname or ""):
        raise ModelError(
            f"base_url leads to {url.hostname} over plain HTTP, which anyone on the network can "
            "read. Use https, or set allow_http = true under [model]."
        )


def find_endpoint(settings: ModelSettings, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint of the settings, with the key in its variable. Raises ModelError."""
    check_endpoint(settings)
    base_url = settings.base_url.strip()
    url = _split(base_url)
    return Endpoint(
        base_url=base_url,
        host=url.netloc,
        model=settings.name.strip(),
        key=_key(settings.key_variable, environment),
        local=is_this_machine(url.hostname or ""),
    )


def is_this_machine(host: str) -> bool:
    """Whether a host's name or address is certainly this machine.

    `kiosk.localhost` might not be: many systems look it up in the network.
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _split(base_url: str) -> SplitResult:
    """The parts of a base URL. Raises ModelError for an unusable one, without quoting it."""
    try:
        url = urlsplit(base_url)
        usable = url.scheme in ("http", "https") and url.hostname and url.port != 0
        usable = usable and "@" not in url.netloc
    except ValueError:
        usable = False
    if not usable or re.search(r"[\s\x00-\x1f\x7f?#]", base_url):
        raise ModelError(
            "base_url under [model] must look like https://host/v1, without a name, a password or "
            "a part behind ? or #. A key goes into the environment variable that key_variable "
            "names."
        )
    return url


def _key(variable: str, environment: Mapping[str, str]) -> str:
    if not variable:
        return ""
    key = environment.get(variable, "").strip()
    if not key:
        raise ModelError(
            f"The environment variable {variable}, which key_variable under [model] names, is not "
            "set. Put the key there, or remove key_variable for an endpoint without a key."
        )
    if KEY.fullmatch(key) is None:
        raise ModelError(
            f"The environment variable {variable} contains characters that cannot be in a key."
        )
    return key
