"""What must hold of runs when all is over, read from what clients are told and from the history of jobs.

The rules are read from their sentences; nothing is shared with the engine but words. W1: a run ends once, and as its
nodes say. W2: each node ends once, as its jobs say. W3: a node goes when its rule is met, and not before. W4: in a
run that was told to stop nothing begins any more, but for nodes that clean up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mainspring.client.direct import DirectClient
from mainspring.domain.joins import Rule
from mainspring.domain.run import Run, RunFilter, RunNode
from mainspring.domain.states import FINAL
from mainspring.domain.workflow import Node
from mainspring.testing.judge import Judge

CLEANS_UP = frozenset({"all_done", "all_failed", "one_failed", "always"})
EARLY = frozenset({"one_success", "one_failed", "one_done", "always"})
_OF_JOB = {"succeeded": "succeeded", "dead": "failed", "cancelled": "cancelled"}


class FlowRest:
    """One look at every run. ``stopped``: those that somebody may have cancelled."""

    def __init__(self, judge: Judge, client: DirectClient, stopped: set[int]) -> None:
        self._judge = judge
        self._client = client
        self._stopped = stopped
        self._born: dict[int, int] = {}
        self._over: dict[int, int] = {}
        for row in judge.events:
            self._born.setdefault(row[1], row[0])
            if row[5] in FINAL:
                self._over[row[1]] = row[0]

    def check(self) -> None:
        """Accuse whatever does not hold."""
        for run in self._client.runs(RunFilter(limit=500)).items:
            document = self._client.run_document(run.id)
            nodes = {node.name: node for node in self._client.run_nodes(run.id, jobs=1000)}
            told = {node.name: node for node in document.nodes}
            self._end(run, list(nodes.values()), told)
            for name, node in nodes.items():
                self._node(run, node)
                needs = [nodes[need] for need in told[name].needs]
                self._rule(run, node, told[name], needs)
                self._order(run, node, told[name], needs)
            self._halted(run, nodes, told)

    def _accuse(self, rule: str, run: Run, text: str) -> None:
        self._judge.accuse(rule, run.id, f"of run {run.id} ({run.workflow}): {text}")

    # --- W1 ---------------------------------------------------------------------------------------------------

    def _end(self, run: Run, nodes: Sequence[RunNode], told: dict[str, Node]) -> None:
        ends = [one for one in self._events(run) if one[0] is None and one[2] in {"succeeded", "failed", "cancelled"}]
        if len(ends) != 1 or ends[0][2] != run.state:
            self._accuse("W1", run, f"it is {run.state}, and its history has the ends {[one[2] for one in ends]}")
        counts = Counter(str(node.state) for node in nodes)
        if counts["waiting"] or counts["active"]:
            self._accuse("W1", run, f"it is {run.state}, and its nodes are {dict(counts)}")
        failed = any(node.state == "failed" and not told[node.name].may_fail for node in nodes)
        if run.stop == "timeout" and counts["cancelled"]:
            wanted = "failed"
        elif run.stop == "cancel" and counts["cancelled"]:
            wanted = "cancelled"
        else:
            wanted = "failed" if failed else "cancelled" if counts["cancelled"] else "succeeded"
        if run.state != wanted:
            self._accuse("W1", run, f"it is {run.state}; its nodes ({dict(counts)}, stop {run.stop}) say {wanted}")
        if run.stop == "cancel" and run.id not in self._stopped:
            self._accuse("W1", run, "it was cancelled, and nobody asked for it")

    def _events(self, run: Run) -> list[tuple[str | None, int, str]]:
        """Events of the run (node None) and of its nodes that have no job: node, sequence, target."""
        return [(one.node, one.seq, one.target) for one in self._client.run_events(run.id) if not one.job]

    # --- W2 ---------------------------------------------------------------------------------------------------

    def _node(self, run: Run, node: RunNode) -> None:
        items = [job.item for job in node.jobs]
        if len(set(items)) != len(items):
            self._accuse("W2", run, f"node {node.name} has several jobs for one item: {sorted(map(str, items))}")
        if node.task is None or not node.jobs:
            return
        ends = [_OF_JOB.get(job.state, job.state) for job in node.jobs]
        if node.items is not None:  # those that an earlier run did well, and those that never began
            ends += ["succeeded"] * node.items_kept
            ends += ["cancelled"] * (node.items - len(ends))
            if len(ends) > node.items:
                self._accuse("W2", run, f"map {node.name} has {node.items} items, and more ends: {ends}")
        wanted = "failed" if "failed" in ends else "cancelled" if "cancelled" in ends else "succeeded"
        if node.state != wanted:
            self._accuse("W2", run, f"node {node.name} is {node.state}, and its jobs are {ends}")
        if node.items is not None and node.items_ended != node.items:
            self._accuse("W2", run, f"map {node.name} counts {node.items_ended} ends of {node.items} items")
        ended = [one[2] for one in self._events(run) if one[0] == node.name and one[2] != "active"]
        if len(ended) > 1:
            self._accuse("W2", run, f"node {node.name} has ended {len(ended)} times: {ended}")

    # --- W3 ---------------------------------------------------------------------------------------------------

    def _rule(self, run: Run, node: RunNode, told: Node, needs: Sequence[RunNode]) -> None:
        """What became of a node is what its rule makes of its needs."""
        weights = [_weight(need) for need in needs]
        went = node.state not in {"skipped", "cancelled"} or bool(node.jobs)
        if went and not _met(told.run_if, weights):
            self._accuse("W3", run, f"node {node.name} went under {told.run_if}, and its needs are {weights}")
        if not went and node.state == "skipped" and _met(told.run_if, weights):
            self._accuse("W3", run, f"node {node.name} was skipped under {told.run_if}, and its needs are {weights}")
        if node.state == "cancelled" and not node.jobs and run.stop is None:
            self._accuse("W3", run, f"node {node.name} was cancelled, and nobody stopped the run")

    def _order(self, run: Run, node: RunNode, told: Node, needs: Sequence[RunNode]) -> None:
        """No job of a node is born before the jobs of its needs have ended, where its rule waits for them."""
        if not node.jobs or told.run_if in EARLY:
            return
        first = min(self._born[job.id] for job in node.jobs)
        for need in needs:
            late = [job.id for job in need.jobs if self._over.get(job.id, 0) > first]
            if late:
                self._accuse("W3", run, f"node {node.name} went before jobs {late} of {need.name} had ended")

    # --- W4 ---------------------------------------------------------------------------------------------------

    def _halted(self, run: Run, nodes: dict[str, RunNode], told: dict[str, Node]) -> None:
        stops = [one.seq for one in self._client.run_events(run.id) if one.node is None and one.cause == "stop"]
        if len(stops) > 1:
            self._accuse("W1", run, f"it was told to stop {len(stops)} times")
        for name, node in nodes.items() if stops else ():
            if node.state == "cancelled" and told[name].run_if in CLEANS_UP and told[name].task is not None:
                self._accuse("W4", run, f"node {name} cleans up, and was cancelled with the rest")
            late = [job.id for job in node.jobs if self._born[job.id] > stops[0]]
            if late and told[name].run_if not in CLEANS_UP:
                self._accuse("W4", run, f"jobs {late} of node {name} were born after the run had been told to stop")


def _weight(node: RunNode) -> str:
    if node.state == "skipped":
        return "failed" if node.reason == "upstream_failed" else "skipped"
    return "succeeded" if node.state == "succeeded" else "failed"


def _met(rule: Rule, weights: Sequence[str]) -> bool:
    good, bad, none = (weights.count(one) for one in ("succeeded", "failed", "skipped"))
    every = len(weights)
    return (
        not weights
        or {
            "all_success": good == every,
            "all_done": True,
            "all_failed": bad == every,
            "all_skipped": none == every,
            "one_success": good > 0,
            "one_failed": bad > 0,
            "one_done": good + bad > 0,
            "none_failed": not bad,
            "none_skipped": not none,
            "none_failed_min_one_success": not bad and good > 0,
            "always": True,
        }[str(rule)]
    )
