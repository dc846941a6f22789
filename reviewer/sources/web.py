"""Parts of files on the web, for a person who looks at a row that somebody else may have written.

An address within this machine or its cloud is never asked, nor is one that an answer points to.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from reviewer.errors import SourceError

OWN_NETWORKS = tuple(
    ip_network(each) for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)
"""Where the servers of a company are: a person may ask these, after having seen the name."""
METADATA = frozenset({ip_address("fd00:ec2::254"), ip_address("168.63.129.16")})
"""Servers of a cloud that hand out credentials and have an address as any other."""
CONNECT_SECONDS, ANSWER_SECONDS, WHOLE_SECONDS = 10, 30, 60


def refusal(host: str, address: str) -> str:
    """Why a host with this address is not asked; empty if it may be."""
    found: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    in_own = any(found in network for network in OWN_NETWORKS)
    if found not in METADATA and (in_own or (found.is_global and not found.is_multicast)):
        return ""
    name = host if host == address else f"{host} ({address})"
    return f"{name} is within this machine or its cloud, so it was not asked."


def guarded(fs_class: Callable[..., Any], options: dict[str, Any], url: str, longest: int) -> Any:
    """The fsspec file system of a URL of the web, for one request of `longest` bytes at most.

    Raises SourceError for a host that is not asked, here or in the request.
    """
    import aiohttp
    from aiohttp.abc import AbstractResolver
    from aiohttp.resolver import ThreadedResolver

    def require(host: str, address: str) -> None:
        if reason := refusal(host, address):
            raise SourceError(f"{url} cannot be read: {reason}")

    class Resolver(AbstractResolver):  # type: ignore[misc]
        def __init__(self) -> None:
            self._resolver = ThreadedResolver()

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[Any]:
            found = await self._resolver.resolve(host, port, family)
            for each in found:
                require(host, each["host"])
            return list(found)

        async def close(self) -> None:
            await self._resolver.close()

    async def redirected(session: Any, context: Any, params: Any) -> None:
        there = urlsplit(params.response.headers.get("Location", "")).hostname or "another page"
        raise SourceError(
            f"{url} cannot be read: it answers with the address of {there}, which was not asked."
        )

    async def answered(session: Any, context: Any, params: Any) -> None:
        answer = params.response
        if answer.status == 200:
            raise SourceError(f"{url} cannot be read: its server does not send a part of a file.")
        if answer.status == 206 and not 0 <= (answer.content_length or -1) <= longest:
            raise SourceError(f"{url} cannot be read: its server sends more than was asked for.")

    async def client(**settings: Any) -> Any:
        trace = aiohttp.TraceConfig()
        trace.on_request_redirect.append(redirected)
        trace.on_request_end.append(answered)
        limit = aiohttp.ClientTimeout(
            WHOLE_SECONDS, sock_connect=CONNECT_SECONDS, sock_read=ANSWER_SECONDS
        )
        settings.pop("loop", None)
        own = {
            "timeout": limit,
            "connector": aiohttp.TCPConnector(resolver=Resolver()),
            "trace_configs": [trace],
            "auto_decompress": False,
        }
        return aiohttp.ClientSession(**{**settings, **own})

    host = urlsplit(url).hostname or ""
    try:
        ip_address(host)
    except ValueError:  # a name: the resolver looks at its addresses
        pass
    else:
        require(host, host)  # not resolved
    return fs_class(get_client=client, skip_instance_cache=True, **options)
