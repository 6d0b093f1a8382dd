"""Where webhooks may go: an address as people write it, and the addresses of machines that it turns out to name.

Both are judged here, and nothing is asked of a network: whoever connects judges what the name resolved to, and connects
to that very address. Only one spelling of each address is taken, as every other is how checks are led astray.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import NamedTuple

from mainspring.errors import DestinationRefused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

LONGEST_URL = 2_000
_URL = re.compile(
    r"(?P<scheme>[a-z]+)://(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?(?P<rest>[/?].*)?"
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORTS = {"https": 443, "http": 80}

_CLOSED = tuple(
    ipaddress.ip_network(one)
    for one in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",  # a cloud's own service at an address that looks public
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),  # tunnels to IPv4, and what is for examples
    )
)
"""Inside, for one machine alone, for many at once, or for nobody."""

_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")
"""All that IPv6 has of public addresses. Outside are loopback, local ones, and IPv4 that is mapped or translated."""

_RIGHT = "Write https://name.example/path, or a dotted IPv4 or bracketed IPv6 address in place of the name."


class Destination(NamedTuple):
    """What an address says. ``host``: in lower case, IPv6 without brackets; ``target``: path and query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """What is said to the receiver of whom we mean."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port: what may be told to whoever must not see the rest, which is often a secret."""
        return f"{self.scheme}://{self.authority}"

    @property
    def literal(self) -> Address | None:
        """The address that it names outright; None for a name."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return ipaddress.IPv4Address("127.0.0.1")
        return address_of(self.host)


def destination(url: str) -> Destination:
    """Read an address. Raises DestinationRefused for whatever is not written in the one plain way."""
    found = _URL.fullmatch(_lowered(url)) if len(url) <= LONGEST_URL and _printable(url) else None
    if found is None:
        raise _refused(
            url, "it is not an address of the plain form (no user, no fragment, nothing encoded in the host)"
        )
    scheme, host, port = found["scheme"], found["host"], found["port"]
    if scheme not in _PORTS:
        raise _refused(url, f"{scheme} is not https")
    number = _PORTS[scheme] if port is None else int(port)
    if not 1 <= number <= 65_535 or (port is not None and str(number) != port):
        raise _refused(url, f"{port} is not a port")
    if host.startswith("["):
        host = host[1:-1]
        if address_of(host) is None:
            raise _refused(url, "what is in the brackets is not an IPv6 address")
    elif not _named(host) and address_of(host) is None:
        raise _refused(url, f"{host!r} is neither a name nor a plain IPv4 address")
    rest = found["rest"] or "/"
    return Destination(scheme, host, number, rest if rest.startswith("/") else f"/{rest}")


def permit(where: Destination, address: Address, inside: Sequence[Network] = ()) -> None:
    """Raise DestinationRefused unless this may be connected to. ``inside``: networks that may be reached all the same.

    Without encryption it goes only there.
    """
    if any(address in one for one in inside if one.version == address.version):
        return
    closed = any(address in one for one in _CLOSED if one.version == address.version)
    if closed or (address.version == 6 and address not in _GLOBAL_6):
        raise DestinationRefused(
            f"{where.origin} leads to {address}, which is not a public address.",
            remedy="If webhooks are to reach it, put its network into the setting webhook_networks of the server.",
        )
    if where.scheme != "https":
        raise DestinationRefused(
            f"{where.origin} is not encrypted, and {address} is a public address.",
            remedy="Use https; http goes only to networks of the setting webhook_networks.",
        )


def networks_of(texts: Sequence[str]) -> tuple[Network, ...]:
    """Networks as the setting has them. Raises ValueError for one that is none."""
    return tuple(ipaddress.ip_network(text.strip()) for text in texts)


def address_of(text: str) -> Address | None:
    """An address in its one plain spelling; None for anything else."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return None if getattr(found, "scope_id", None) else found


def _named(host: str) -> bool:
    labels = host.split(".")
    # What ends in a number is an address to those who resolve it, whatever spelling it has.
    return all(_LABEL.fullmatch(one) for one in labels) and not _NUMERIC.fullmatch(labels[-1])


def _lowered(url: str) -> str:
    """Scheme and host in lower case, and the rest as it is."""
    scheme, colon, behind = url.partition("://")
    at = min((place for place in (behind.find("/"), behind.find("?")) if place >= 0), default=len(behind))
    return f"{scheme}{colon}{behind[:at]}".lower() + behind[at:]


def _printable(url: str) -> bool:
    return all("!" <= one <= "~" and one not in '\\#"<>^`{|}' for one in url)


def _refused(url: str, why: str) -> DestinationRefused:
    # All of it might hold a secret; what is before the path is enough to find it.
    shown = url[: url.find("/", 8)] if url.find("/", 8) > 0 else url
    shown = f"...@{shown.rpartition('@')[2]}" if "@" in shown else shown
    return DestinationRefused(f"A webhook can't go to {shown[:100]!r}: {why}.", remedy=_RIGHT)
