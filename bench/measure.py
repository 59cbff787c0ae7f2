"""Measuring one adapter: the time of requests, of its start, and its memory."""

import asyncio
import json
import re
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path

from bench.figures import Figure, percentile
from bench.stack import NAMESPACE, PODS, Stack
from tests.cluster.errors import HarnessError
from tests.cluster.pki import Credentials
from tests.cluster.processes import until

METRIC = "DEV_GPU_UTIL_current"
PATH = (
    f"/apis/custom.metrics.k8s.io/v1beta2/namespaces/{NAMESPACE}/pods/%2A/{METRIC}"
    "?labelSelector=app%3Dbench"
)
HPA = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
HEADERS: Mapping[str, str] = {
    "X-Remote-User": HPA,
    "X-Remote-Group": "system:serviceaccounts",
    "Accept": "application/vnd.kubernetes.protobuf, */*",
}
REQUESTS = 3000
STARTS = 5
FIRST_VALUE_SECONDS = 30


async def measure(stack: Stack) -> list[Figure]:
    """All figures; raises HarnessError when the adapter does not answer as it should."""
    starts = [await _start_seconds(stack) for _ in range(STARTS)]
    seconds = await _request_seconds(stack)
    return [
        _milliseconds("median", percentile(seconds, 50)),
        _milliseconds("99th percentile", percentile(seconds, 99)),
        Figure(
            name=f"start to ready, median of {STARTS}",
            measured=percentile(starts, 50),
            budget=2,
            unit="s",
        ),
        Figure(name="resident memory after it", measured=_mebibytes(stack), budget=200, unit="MiB"),
    ]


def _milliseconds(what: str, seconds: float) -> Figure:
    name = f"`*` request for {PODS} pods from memory, {what} of {REQUESTS}"
    return Figure(name=name, measured=seconds * 1000, budget=5, unit="ms")


async def _start_seconds(stack: Stack) -> float:
    """From the process's start until readyz says yes."""
    await stack.adapter.process.stop()
    started = time.perf_counter()
    await stack.adapter.process.start()
    return time.perf_counter() - started


async def _request_seconds(stack: Stack) -> Sequence[float]:
    """The time of each request, one after another on one connection, asked in a thread.

    In this thread the exporter goes on, or Prometheus would soon have nothing to tell.
    """
    caller = Caller(port=stack.adapter.port, context=_front_proxy(stack))

    async def complete() -> bool:
        return await asyncio.to_thread(caller.count) == PODS

    await until(complete, what=f"values of {PODS} pods", seconds=FIRST_VALUE_SECONDS)
    return await asyncio.to_thread(caller.times, REQUESTS)


def _front_proxy(stack: Stack) -> ssl.SSLContext:
    authority = stack.adapter.authority.certificate_pem.decode()
    context = ssl.create_default_context(cadata=authority)
    proxy: Credentials = stack.plane.pki.proxy_client
    context.load_cert_chain(proxy.certificate, proxy.key)
    return context


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Asks as kube-apiserver does on the autoscaler's behalf."""

    port: int
    context: ssl.SSLContext

    def count(self) -> int:
        """How many pods have a value now."""
        connection = self._connection()
        try:
            status, body = _ask(connection)
        finally:
            connection.close()
        return len(json.loads(body)["items"]) if status == 200 else 0

    def times(self, requests: int) -> list[float]:
        """Seconds of each of so many requests; raises HarnessError when one has no full answer."""
        connection = self._connection()
        try:
            return [_timed(connection) for _ in range(requests)]
        finally:
            connection.close()

    def _connection(self) -> HTTPSConnection:
        return HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=30)


def _ask(connection: HTTPSConnection) -> tuple[int, bytes]:
    connection.request("GET", PATH, headers=HEADERS)
    answer = connection.getresponse()
    return answer.status, answer.read()


def _timed(connection: HTTPSConnection) -> float:
    started = time.perf_counter()
    status, body = _ask(connection)
    seconds = time.perf_counter() - started
    if status != 200 or body.count(b'"describedObject"') != PODS:
        raise HarnessError(f"not {PODS} values but {status}: {body.decode()[:300]}")
    return seconds


def _mebibytes(stack: Stack) -> float:
    pid = stack.adapter.process.pid
    found = re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    if found is None:
        raise HarnessError(f"/proc/{pid}/status does not tell the resident memory")
    return int(found[1]) / 1024
