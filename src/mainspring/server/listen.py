"""The socket that the server listens at, and on which terms: bound before anything else is started.

An address that other machines can reach is refused unless tokens are asked for, and unless what is sent there is
encrypted or somebody has said that a proxy sees to it.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import ssl
from typing import NamedTuple

from mainspring.errors import AddressRefused, AddressUnavailable, InvalidOption, InvalidSetting

_BACKLOG = 1024
_REASONS = {
    errno.EADDRINUSE: (
        "another program listens there already",
        "Choose another one with --port, or 0 for any free one.",
    ),
    errno.EACCES: ("this user may not use that port", "Choose one above 1023 with --port."),
    errno.EADDRNOTAVAIL: ("this machine does not have that address", "Use --host 127.0.0.1."),
    errno.EAFNOSUPPORT: ("this machine does not speak IPv6", "Use --host 127.0.0.1."),
}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Terms(NamedTuple):
    """How the server is reached. Empty texts: as the address suggests."""

    host: str
    port: int
    auth: str = ""
    transport: str = ""
    tls_cert: str = ""
    tls_key: str = ""

    @property
    def exposed(self) -> bool:
        """Whether other machines could reach it."""
        return not _address(self.host).is_loopback

    @property
    def asks(self) -> bool:
        """Whether tokens are asked for."""
        return self.auth == "token" or (not self.auth and self.exposed)

    @property
    def encrypted(self) -> bool:
        """Whether it speaks TLS."""
        return self.transport == "tls" or (not self.transport and (self.exposed or bool(self.tls_cert)))


def check(terms: Terms) -> None:
    """Raise AddressRefused or InvalidSetting for terms that would let in whoever comes by."""
    if not terms.asks and terms.exposed:
        raise AddressRefused(
            f"The server can't listen at {terms.host!r} with auth = none: other machines could reach it, and it would "
            "not ask who they are.",
            remedy="Leave --auth out, or use --host 127.0.0.1.",
            field="auth",
        )
    if terms.encrypted and not (terms.tls_cert and terms.tls_key):
        raise AddressRefused(
            f"The server would speak TLS at {terms.host!r}, and has no certificate.",
            remedy="Give --tls-cert FILE and --tls-key FILE, or --transport plain where a proxy in front of it does.",
            field="tls_cert",
        )
    if terms.encrypted:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(terms.tls_cert, terms.tls_key, password="")
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise InvalidSetting(
                f"The certificate {terms.tls_cert!r} can't be used with the key {terms.tls_key!r}: {error}.",
                remedy="Both are files in PEM, the key without a passphrase.",
                field="tls_cert",
            ) from error


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; ``port`` 0 takes any free one.

    Raises InvalidOption for what is no address, AddressUnavailable where it can't be had.
    """
    if not 0 <= port <= 65_535:
        raise InvalidOption(f"port is {port}; it must be from 0 to 65535.", remedy="The default is 8750.", field="port")
    address = _address(host)
    listener = None
    try:
        listener = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((str(address), port))
        listener.listen(_BACKLOG)
    except OSError as error:
        if listener is not None:
            listener.close()
        reason, remedy = _REASONS.get(error.errno or 0, (error.strerror or str(error), "Choose another with --port."))
        raise AddressUnavailable(
            f"Can't listen at {host} port {port}: {reason}.", remedy=remedy, field="port"
        ) from error
    return listener


def url(listener: socket.socket, *, encrypted: bool = False) -> str:
    """Where it listens, as an address for people and programs."""
    host, port = listener.getsockname()[:2]
    scheme = "https" if encrypted else "http"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _address(host: str) -> Address:
    if host.lower() == "localhost":
        return ipaddress.IPv4Address("127.0.0.1")
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        raise AddressRefused(
            f"The server can't listen at {host!r}: that is no address of a machine.",
            remedy="Use --host 127.0.0.1, ::1 or localhost, or 0.0.0.0 for all addresses of this machine.",
            field="host",
        ) from None
