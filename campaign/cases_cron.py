"""The cases about cron: vectors with the verdicts of seven libraries, and crontabs found in the wild.

Where the libraries agree, so must we. Where they do not, ours is what docs/reference/cron.md says: each row in which
the source of a vector wants something else stands below under the rule of that page by which it does, and its outcome
must be what a second, brute-force reading of that page gives (cron_reading.py).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from campaign.cron_reading import ticks
from mainspring.clock import Instant, instant
from mainspring.domain.cron import Cron
from mainspring.domain.crontab import parse
from mainspring.domain.recurrence import Recurrence, read
from mainspring.errors import MainspringError

NOT_TAKEN = {"seconds last": ("last",), "a year field": ("sixth-then-year",)}

DIALECT = {
    "a fixed time with a second is fixed too, and moves behind a gap": "0029 0115",
    "a star in front, even as */5, means both day fields": "0107 0145 0623",
    "what follows elapsed time does not move behind a gap": "0236 0240 0241 0245",
    "lists, ranges and a/b of minutes and hours are fixed times: the first pass only": (
        "0278 0279 0281 0282 0291 0292 0294 0295 0298 0299 0302 0303 0359 0361 0367 0370"
    ),
    "the first instant after a gap is a tick, also when it is asked for itself": "0391",
    "names may stand before L": "0036",
    "a step may be longer than the field; it fires at the first value": "0515 0577 0620 0685 0686",
    "W and L may stand in lists": "0562 0563 0680",
    "steps go on around the end of a range": "0656",
    "? is the same as *, in each field": "0668",
    "both day fields may be stars": "0677 0678 0679",
    "31W is the last weekday of months with 31 days": "0692",
    "five fields are enough": "0701",
}
"""The rules by which a row that is disputed has another outcome than its source wants: numbers of rows."""

FOREIGN = {
    "jenkins": "H",
    "aws": "cron(...)",
    "aws-rate": "rate(...)",
    "anacron": "anacron",
    "quartz": "a year field",
}
"""Dialects of schedulers that are not cron. Their entries are refused, unless they are plain cron."""


def check_vectors(folder: Path, _engines: Sequence[str], say: Callable[[str], None]) -> list[str]:
    """The vectors below this folder: what did not hold."""
    seen, wrong = vectors(folder / "cron_vectors")
    say(f"  {seen}")
    return wrong


def check_crontabs(folder: Path, _engines: Sequence[str], say: Callable[[str], None]) -> list[str]:
    """The crontabs below this folder: what did not hold."""
    seen, wrong = crontabs(folder / "crontabs")
    say(f"  {seen}")
    return wrong


def vectors(folder: Path) -> tuple[str, list[str]]:
    """Every row of cron_vectors.json."""
    rows = json.loads((folder / "cron_vectors.json").read_text())["rows"]
    differing = {f"cv-{number}": rule for rule, numbers in DIALECT.items() for number in numbers.split()}
    seen, wrong = Counter[str](), []
    for row in rows:
        status = row["verification"]["status"]
        year = row["expression"].count(" ") == 6 and not row["expect_error"]
        if row["seconds_field"] in {"last", "sixth-then-year"} or year:
            seen["not taken (seconds last, a year field)"] += 1
            continue
        expected, found = _expected(row), _found(row)
        rule = differing.pop(row["id"], None) if status in {"disputed", "source_only"} else None
        if rule is None:
            holds = found == expected
        else:
            source, expected, found = expected, *_by_the_table(row)
            holds = found == expected != source
        seen[f"{status}{' by the dialect table' if rule else ''}"] += holds
        if not holds:
            wrong.append(f"{row['id']} {row['expression']!r} {row['timezone']}: {found}, expected {expected}")
    seen["rows"] = len(rows)
    return ", ".join(f"{count} {name}" for name, count in sorted(seen.items())), wrong


def _expected(row: dict[str, Any]) -> str | list[Instant]:
    if row["expect_error"] or row["expected_next"] == []:
        return "refused"
    if row["expected_next"] is None:
        return "not at" if row.get("fires_at") is False else "at"
    return [_moment(text) for text in row["expected_next"]]


def _found(row: dict[str, Any]) -> str | list[Instant]:
    try:
        rule = Cron(row["expression"], row["timezone"] or "UTC", days=_days(row))
    except MainspringError:
        return "refused"
    if row["expect_error"]:
        return "accepted"
    if row["expected_next"] is None:
        at = _moment(row["at"])
        return "at" if rule.next_after(Instant(at - 1)) == at else "not at"
    return _ticks(rule, _moment(row["start"]), len(row["expected_next"]), inclusive=row["inclusive"])


def _by_the_table(row: dict[str, Any]) -> tuple[list[Instant], list[Instant]]:
    """What the dialect table says of a row, read by cron_reading.py, and what we do: as many ticks as it asks for."""
    start, count = _moment(row["start"] or "2024-02-27T10:00:00Z"), len(row["expected_next"] or ()) or 10
    inclusive, zone = bool(row["inclusive"]), row["timezone"] or "UTC"
    if row.get("at"):
        start, inclusive = _moment(row["at"]), True
    read_again = ticks(
        row["expression"],
        zone,
        datetime.fromtimestamp(start / 1_000_000, UTC),
        count,
        inclusive=inclusive,
        days=_days(row),
    )
    try:
        rule = Cron(row["expression"], zone, days=_days(row))
    except MainspringError:
        return [instant(tick.isoformat()) for tick in read_again], []
    return [instant(tick.isoformat()) for tick in read_again], _ticks(rule, start, count, inclusive=inclusive)


def _days(row: dict[str, Any]) -> Any:
    return "and" if row["dom_dow_both_restricted"] == "and" else "or"


def _ticks(rule: Recurrence, start: Instant, count: int, *, inclusive: bool) -> list[Instant]:
    found: list[Instant] = []
    moment: Instant | None = Instant(start - 1) if inclusive else start
    while len(found) < count:
        moment = rule.next_after(moment)
        if moment is None:
            break
        found.append(moment)
    return found


def _moment(text: str) -> Instant:
    return instant(text if re.search(r"(Z|[+-]\d\d:\d\d)$", text) else f"{text}Z")


def crontabs(folder: Path) -> tuple[str, list[str]]:
    """Every entry of schedules.json as an expression, and the two files in crontab syntax through the importer."""
    seen, wrong = Counter[str](), []
    entries = json.loads((folder / "schedules.json").read_text())["entries"]
    for entry in entries:
        verdict, failure = _entry(entry)
        seen[verdict] += 1
        wrong += [f"{entry['id']} {entry['expression']!r}: {failure}"] if failure else []
    for path in sorted(folder.glob("*.txt")):
        parsed = parse(path.read_text())
        due = sum(1 for line in path.read_text().splitlines() if re.match(r"[\d*@]", line))
        person = [refused for refused in parsed.refused if not refused.text.startswith("@reboot")]
        wrong += [f"{path.name}:{refused.line}: {refused.why}" for refused in person]
        if len(parsed.entries) + len(parsed.refused) != due:
            wrong.append(f"{path.name}: {len(parsed.entries)} entries of {due} lines")
        seen["imported"] += len(parsed.entries)
        seen["left to a person (@reboot)"] += len(parsed.refused) - len(person)
    return ", ".join(f"{count} {name}" for name, count in sorted(seen.items())), wrong


def _entry(entry: dict[str, Any]) -> tuple[str, str]:
    expression, valid = entry["expression"], entry["valid"]
    foreign = entry["dialect"] in FOREIGN or expression.startswith(("@every", "@reboot", "CRON_TZ=", "TZ="))
    try:
        rule = read({"cron": expression, "tz": entry.get("timezone") or "UTC"})
    except MainspringError as error:
        if foreign:
            return "refused, of another dialect", ""
        return "refused", f"refused: {error}" if valid else ""
    if not valid:
        return "accepted", "accepted, and it is invalid"
    if not entry.get("next") or entry.get("next_differs"):
        return "accepted", ""
    start = Instant(rule.place.first_instant(instant("2026-03-01T00:00:00Z") // 1_000_000) * 1_000_000)
    found = _ticks(rule, start, len(entry["next"]), inclusive=False)
    return "accepted", "" if found == [_moment(text) for text in entry["next"]] else f"{found} and not {entry['next']}"
