"""Where webhooks may go: every spelling by which one can be led inside is refused, and what is public is not."""

from __future__ import annotations

import ipaddress

import pytest

from mainspring.domain.outward import Destination, address_of, destination, networks_of, permit
from mainspring.errors import DestinationRefused

BADLY_WRITTEN = [
    "",
    "example.com/hook",
    "//example.com/hook",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://example.com:70/_x",
    "https:/example.com/",
    "https:example.com",
    "https://",
    "https:///hook",
    "https://user@example.com/",
    "https://user:pass@example.com/",
    "https://example.com@127.0.0.1/",
    "https://example.com\\@127.0.0.1/",
    "https://example.com#@127.0.0.1/",
    "https://2130706433/",  # 127.0.0.1 as one number
    "https://017700000001/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://127.0.0.01/",
    "https://127.1/",
    "https://127.0.1/",
    "https://0/",
    "https://1.2.3.4.5/",
    "https://127.0.0.1./",
    "https://example.com./",
    "https://example..com/",
    "https://.example.com/",
    "https://[::1/",
    "https://[fe80::1%25eth0]/",
    "https://[::ffff:0x7f.0.0.1]/",
    "https://::1/",
    "https://127%2e0.0.1/",
    "https://%31%32%37.0.0.1/",
    "https://\uff11\uff12\uff17.0.0.1/",
    "https://127\u30020\u30020\u30021/",
    "https://ex ample.com/",
    "https://example.com:0/",
    "https://example.com:65536/",
    "https://example.com:0443/",
    "https://example.com:443:80/",
    "https://example.com/a b",
    "https://example.com/\r\nhost: inside",
    f"https://example.com/{'a' * 2000}",
]
LEADING_INSIDE = [
    "https://127.0.0.1/",
    "https://127.8.8.8/",
    "HTTPS://LOCALHOST/",
    "https://a.localhost/",
    "https://0.0.0.0/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://172.31.255.255/",
    "https://192.168.1.1/",
    "https://100.64.0.1/",  # carrier-grade NAT
    "https://100.100.100.200/",  # a cloud's metadata
    "https://169.254.169.254/latest/meta-data/",
    "https://168.63.129.16/",
    "https://192.0.0.192/",
    "https://198.18.0.1/",
    "https://192.0.2.1/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::]/",
    "https://[::1]/",
    "https://[fe80::1]/",
    "https://[fc00::1]/",
    "https://[fd00:ec2::254]/",
    "https://[ff02::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:8.8.8.8]/",
    "https://[::ffff:7f00:1]/",
    "https://[::127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",  # NAT64
    "https://[64:ff9b:1::a00:1]/",
    "https://[2002:7f00:1::]/",  # 6to4
    "https://[2001:0:7f00:1::]/",  # Teredo
    "https://[2001:db8::1]/",
    "http://8.8.8.8/",  # public, but not encrypted
    "http://[2606:4700::1111]/",
]
RIGHT = [
    ("https://hooks.example.com", Destination("https", "hooks.example.com", 443, "/")),
    ("HTTPS://Hooks.Example.COM:8443/A?b=C", Destination("https", "hooks.example.com", 8443, "/A?b=C")),
    ("https://example.com?x=1", Destination("https", "example.com", 443, "/?x=1")),
    ("https://xn--bcher-kva.example/", Destination("https", "xn--bcher-kva.example", 443, "/")),
    ("https://8.8.8.8/", Destination("https", "8.8.8.8", 443, "/")),
    ("https://[2606:4700:4700::1111]:444/", Destination("https", "2606:4700:4700::1111", 444, "/")),
    ("http://intranet/", Destination("http", "intranet", 80, "/")),
    ("https://1e100.net/", Destination("https", "1e100.net", 443, "/")),
]


@pytest.mark.parametrize("url", BADLY_WRITTEN)
def test_what_is_not_written_in_the_one_plain_way_is_refused(url: str) -> None:
    with pytest.raises(DestinationRefused):
        destination(url)


@pytest.mark.parametrize("url", LEADING_INSIDE)
def test_what_is_not_public_is_refused(url: str) -> None:
    where = destination(url)
    assert where.literal is not None
    with pytest.raises(DestinationRefused):
        permit(where, where.literal)


@pytest.mark.parametrize(("url", "expected"), RIGHT)
def test_what_is_written_plainly_is_taken(url: str, expected: Destination) -> None:
    found = destination(url)
    assert found == expected
    if found.literal is not None:
        permit(found, found.literal)


def test_a_name_that_leads_inside_is_refused_by_its_address() -> None:
    where = destination("https://hooks.example.com/")
    assert where.literal is None
    for text in ("10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"):
        address = address_of(text)
        assert address is not None
        with pytest.raises(DestinationRefused, match="not a public address"):
            permit(where, address)


def test_inside_networks_open_just_what_they_name_also_without_encryption() -> None:
    inside = networks_of(["10.1.0.0/16", "fd00::/8"])
    permit(destination("http://10.1.2.3/"), ipaddress.ip_address("10.1.2.3"), inside)
    permit(destination("http://hooks/"), ipaddress.ip_address("fd00::1"), inside)
    for text in ("10.2.0.1", "::ffff:10.1.2.3", "127.0.0.1"):
        with pytest.raises(DestinationRefused):
            permit(destination("https://hooks/"), ipaddress.ip_address(text), inside)


def test_a_refusal_tells_no_secret_of_the_address() -> None:
    for url in ("https://user:hidden@example.com/", "ftp://example.com/hidden", "https://1.2.3/hidden?token=hidden"):
        with pytest.raises(DestinationRefused) as refused:
            destination(url)
        assert "hidden" not in str(refused.value)
