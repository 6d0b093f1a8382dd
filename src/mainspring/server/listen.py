"""The socket that the server listens at: loopback only, bound before anything else is started."""

from __future__ import annotations

import errno
import ipaddress
import socket

from mainspring.errors import AddressRefused, AddressUnavailable, InvalidOption

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


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; ``port`` 0 takes any free one.

    Raises AddressRefused for an address that others can reach, AddressUnavailable where it can't be had.
    """
    if not 0 <= port <= 65_535:
        raise InvalidOption(f"port is {port}; it must be from 0 to 65535.", remedy="The default is 8750.", field="port")
    address = _loopback(host)
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


def url(listener: socket.socket) -> str:
    """Where it listens, as an address for people and programs."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _loopback(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    if host.lower() == "localhost":
        return ipaddress.IPv4Address("127.0.0.1")
    try:
        address = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise AddressRefused(
            f"The server can't listen at {host!r}: other machines could reach it, and it does not ask who they are.",
            remedy="Authentication comes with a later version; until then use --host 127.0.0.1, ::1 or localhost.",
            field="host",
        )
    return address
