"""The clients of the chaos campaign, of the database and of its servers: what they do, and what they were told."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from campaign.chaos_judge import Told
from mainspring.chance import SeededChance
from mainspring.client.direct import DirectClient, connect
from mainspring.clock import MILLISECOND, Duration, seconds
from mainspring.domain.job import JobRequest
from mainspring.errors import IllegalState, MainspringError, OutcomeUnknown, ReplayLive

NARROW = "narrow"
"""The queue that has a limit."""

_TASKS = ("drift", "drift", "trudge", "dwell", "stumble", "squeeze")
_KEYS = 3


class Clients:
    """All of a run, and all that they heard."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.notes: list[Told] = []
        self.retried: list[int] = []
        self.counts: Counter[str] = Counter()
        self.amiss: list[str] = []

    def run(self, number: int, url: str, over: threading.Event) -> None:
        """One of them, until it is over: one thing after the other."""
        chance = SeededChance(self._seed * 1000 + number)
        client: DirectClient | None = None
        known: list[int] = []
        serial = 0
        while not over.is_set():
            serial += 1
            try:
                client = client or connect(url)
                if chance.fraction() < 0.7 or not known:
                    known += self._submit(client, chance, f"c{number}n{serial}")
                elif chance.fraction() < 0.6:
                    client.cancel(chance.pick(known))
                    self.counts["cancels"] += 1
                else:
                    self.retried.append(client.retry(chance.pick(known)).id)
                    self.counts["retries"] += 1
            except (IllegalState, ReplayLive):
                pass
            except MainspringError as error:
                self.counts[f"client: {error.code}"] += 1
            except Exception as error:  # noqa: BLE001 - nothing else may come out of a client
                self.amiss.append(f"a client was told {type(error).__name__}: {error}")
            over.wait(seconds(Duration(chance.whole(50, 600) * MILLISECOND)))
        if client is not None:
            client.close()

    def run_http(self, number: int, ports: Sequence[int], over: threading.Event) -> None:
        """One that speaks to the servers, and asks again with the same idempotency key until one answers."""
        chance = SeededChance(self._seed * 1000 + 500 + number)
        serial = 0
        while not over.is_set():
            serial += 1
            token = f"h{number}n{serial}"
            body = {"task": f"beating.{chance.pick(_TASKS)}", "params": {"seconds": chance.whole(1, 10) / 10}}
            try:
                jobs = self._posted(body | {"tags": {"token": token}}, token, ports, chance, over)
                self.notes.append(Told(token, 1, "stored" if jobs else "unknown", jobs))
            except Exception as error:  # noqa: BLE001 - nothing else may come out of a server
                self.amiss.append(f"a client of a server was told {type(error).__name__}: {error}")
            over.wait(seconds(Duration(chance.whole(50, 600) * MILLISECOND)))

    def _posted(
        self, body: dict[str, Any], key: str, ports: Sequence[int], chance: SeededChance, over: threading.Event
    ) -> tuple[int, ...]:
        """The job; nothing when nobody has answered to the end."""
        document = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        while not over.is_set():
            url = f"http://127.0.0.1:{chance.pick(ports)}/api/v1/jobs"
            try:
                with urlopen(Request(url, document, headers), timeout=10) as answer:
                    return (int(json.load(answer)["id"]),)
            except HTTPError as error:
                self.counts[f"server: {error.code}"] += 1
                if error.code < 500:
                    raise
            except (OSError, HTTPException, ValueError) as error:  # gone, silent, or cut off amid its answer
                self.counts[f"server: {type(getattr(error, 'reason', error)).__name__}"] += 1
            over.wait(0.2)
        return ()

    def _submit(self, client: DirectClient, chance: SeededChance, token: str) -> list[int]:
        unique = chance.fraction() < 0.2
        requests = [
            JobRequest(
                f"beating.{chance.pick(_TASKS)}",
                {"seconds": chance.whole(1, 15) / 10},
                queue=NARROW if chance.fraction() < 0.1 else None,
                delay=chance.pick([None, None, "300ms", "2s"]),
                tags={"token": token},
                unique=f"key{chance.whole(1, _KEYS)}" if unique else None,
            )
            for _ in range(1 if unique else chance.pick([1, 1, 1, 2, 5]))
        ]
        answer, jobs = "refused", tuple[int, ...]()
        try:
            receipts = client.submit(requests)
            jobs = tuple(receipt.job for receipt in receipts if receipt.new)
            answer = "stored" if jobs else "held"
        except OutcomeUnknown:
            answer = "unknown"
            raise
        finally:
            self.notes.append(Told(token, len(requests), answer, jobs))
        return list(jobs)
