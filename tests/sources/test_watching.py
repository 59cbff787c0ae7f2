"""Whatever happens to the line, the inventory ends up as a plain dictionary would."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.sources.backoff import Backoff
from adapter.sources.errors import ClusterRefused, ConnectionLost
from adapter.sources.pods import PodWatch
from adapter.telemetry import Telemetry
from tests.fakes.cluster_state import ClusterState, Expired, pod
from tests.fakes.kubernetes import gone

PODS = "/api/v1/pods"


@dataclass(frozen=True, slots=True)
class Put:
    namespace: str
    name: str
    phase: str
    mark: str


@dataclass(frozen=True, slots=True)
class Delete:
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Cut:
    """The line breaks and the next `unseen` steps happen before it is back."""

    unseen: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """The next request is answered with this status; 0 is no answer at all."""

    status: int


@dataclass(frozen=True, slots=True)
class Say:
    """An event of its own kind: pending ones first, then this."""

    what: Literal["events", "bookmark", "gone", "compact", "rubbish"]


namespaces = st.sampled_from(["a", "b"])
names = st.sampled_from(["x", "y", "z"])
phases = st.sampled_from(["Pending", "Running", "Running", "Succeeded", "Failed"])
says: st.SearchStrategy[Literal["events", "bookmark", "gone", "compact", "rubbish"]] = (
    st.sampled_from(("events", "bookmark", "gone", "compact", "rubbish"))
)
steps = st.lists(
    st.builds(Put, namespaces, names, phases, st.sampled_from(["1", "2"]))
    | st.builds(Delete, namespaces, names)
    | st.builds(Cut, st.integers(0, 3))
    | st.builds(Refuse, st.sampled_from([0, 403, 410, 429, 500, 504]))
    | st.builds(Say, says),
    max_size=25,
)
Step = Put | Delete | Cut | Refuse | Say


class Done(Exception):  # noqa: N818  (no error: the end of the script)
    """Every step was taken."""


class ScriptedApi:
    """Takes the steps, one after the other, while a watch is open."""

    def __init__(self, script: list[Step]) -> None:
        self.state = ClusterState()
        self.living: dict[tuple[str, str], str] = {}
        self._script = iter(script)
        self._refusals: list[int] = []

    async def get(self, path: str, params: Mapping[str, str]) -> bytes:
        self._refuse()
        return json.dumps(self.state.page(path, {**params, "limit": "2"})).encode()

    @asynccontextmanager
    async def watch(
        self, path: str, params: Mapping[str, str]
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        self._refuse()
        yield self._lines(path, params, int(params["resourceVersion"]))

    async def _lines(
        self, path: str, params: Mapping[str, str], since: int
    ) -> AsyncIterator[bytes]:
        for step in self._script:
            if isinstance(step, Say):
                for line in self._pending(path, params, since):
                    yield line
                since = self.state.version
                for line in self._said(step):
                    yield line
            else:
                self._take(step)
        for line in self._pending(path, params, since):
            yield line
        raise Done

    def _pending(self, path: str, params: Mapping[str, str], since: int) -> list[bytes]:
        try:
            return self.state.lines(path, params, since)
        except Expired as error:
            raise ClusterRefused("too old", status=410) from error

    def _said(self, step: Say) -> Iterator[bytes]:
        match step.what:
            case "bookmark":
                yield self.state.bookmark()
            case "gone":
                yield gone()
            case "compact":
                self.state.compact()
            case "events":
                pass
            case "rubbish":
                yield b'{"type":"MODIFIED","object":[]}'

    def _take(self, step: Put | Delete | Cut | Refuse) -> None:
        match step:
            case Put(namespace, name, phase, mark):
                self.state.put(PODS, pod(namespace, name, phase=phase, mark=mark))
                self.living[namespace, name] = mark
                if phase in {"Succeeded", "Failed"}:
                    del self.living[namespace, name]
            case Delete(namespace, name):
                self.state.delete(PODS, namespace, name)
                self.living.pop((namespace, name), None)
            case Refuse(status):
                self._refusals.append(status)
            case Cut(unseen):
                self._cut(unseen)

    def _cut(self, unseen: int) -> None:
        for _ in range(unseen):
            step = next(self._script, None)
            if isinstance(step, Put | Delete | Refuse):
                self._take(step)
        raise ConnectionLost("cut")

    def _refuse(self) -> None:
        if not self._refusals:
            return
        status = self._refusals.pop()
        if status == 0:
            raise ConnectionLost("refused")
        raise ClusterRefused("refused", status=status)


@given(script=steps)
def test_after_any_events_the_inventory_equals_a_dictionary(script: list[Step]) -> None:
    api = ScriptedApi(script)
    watch = PodWatch(api, Telemetry(), backoff=Backoff(first=0, most=0))
    with pytest.raises(Done):
        anyio.run(watch.run)
    known = {(pod.namespace, pod.name): pod.labels["mark"] for pod in watch.inventory.all()}
    assert known == api.living
