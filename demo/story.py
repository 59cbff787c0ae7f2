"""The second part: the Ray example on a real control plane, its GPUs' load switched on and off."""

import asyncio
import shlex
import time
from dataclasses import dataclass, field
from itertools import count

from demo.cluster import Cluster
from demo.load import Switch
from demo.rows import Story
from demo.screen import Refresh, Screen
from demo.seen import ACTS, Act, Seen, look
from tests.cluster.errors import HarnessError

NAMESPACE = "rayexperiment"
METRIC = "DEV_GPU_UTIL_current"
HPA_PATH = f"/apis/autoscaling/v2/namespaces/{NAMESPACE}/horizontalpodautoscalers/hpa-gpu"
PODS_PATH = f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=app%3Dray-worker"
GPU_USE = f'DCGM_FI_DEV_GPU_UTIL{{exported_namespace="{NAMESPACE}"}}'
METRICS_PATH = f"/apis/custom.metrics.k8s.io/v1beta2/namespaces/{NAMESPACE}"

APPLY = "kubectl apply -k manifests/examples/ray"
AT_THE_TOP = (
    f"kubectl get hpa,pods -n {NAMESPACE}",
    f"kubectl get --raw '{METRICS_PATH}/pods/*/{METRIC}?labelSelector=app%3Dray-worker'",
    f"kubectl get --raw {METRICS_PATH}/metrics/{METRIC}",
)
AT_THE_END = (f"kubectl describe hpa hpa-gpu -n {NAMESPACE}",)
FIRST_WORDS = (
    "\nThe autoscaler holds ray-worker (1 to 4 replicas) at a GPU use of 40 %. Below, GPU use is that"
    " of each worker, HPA the value it sees and its target, replicas those that run and those it"
    " wants."
)
LAST_WORDS = (
    "\nA warning above, if there is one, is of the first seconds: Prometheus had no series of the"
    " new worker yet. A missing value is never taken for zero, so the autoscaler waited."
)
LOOK_SECONDS = 1
CYCLE_SECONDS = 60


@dataclass(slots=True, kw_only=True)
class Stage:
    """The cluster, the load's switch and the screen, from the story's start on."""

    cluster: Cluster
    switch: Switch
    screen: Screen
    started: float = field(default_factory=time.monotonic)

    async def play(self) -> None:
        """Apply the example and tell all acts; raises HarnessError when one is not reached."""
        await self._type(APPLY)
        self.screen.say(FIRST_WORDS)
        self.started = time.monotonic()
        story = Story(named=self.screen.wide)
        with self.screen.story(story) as refresh:
            first, grow, shrink = ACTS
            await self._act(first, story, refresh)
            await self._act(grow, story, refresh)
            top = [(line, await self._output(line)) for line in AT_THE_TOP]
            await self._act(shrink, story, refresh)
        self.screen.say("\nWith four workers under load, kubectl said:")
        for line, output in top:
            self.screen.typed(line, output)
        self.screen.say("\nAnd now that the load is off:")
        for line in AT_THE_END:
            await self._type(line)
        self.screen.say(LAST_WORDS)

    async def keep(self) -> None:
        """Switch the load on and off for ever, saying what may be tried meanwhile."""
        plane = self.cluster.plane
        self.screen.say("\nEverything stays up until Ctrl-C. In another terminal:\n")
        self.screen.lines(
            f"export KUBECONFIG={plane.admin_kubeconfig}",
            f"alias kubectl={plane.binaries.kubectl}",
            f"kubectl get hpa -n {NAMESPACE} --watch",
            *AT_THE_TOP,
            *AT_THE_END,
            "",
        )
        with self.screen.status("") as say:
            for turn in count():
                self.switch.on = turn % 2 == 1
                state = "on" if self.switch.on else "off"
                say(f"the load is {state} for {CYCLE_SECONDS} s; Ctrl-C ends it all")
                await asyncio.sleep(CYCLE_SECONDS)

    async def _act(self, act: Act, story: Story, refresh: Refresh) -> None:
        self.switch.on = act.load_on
        seen = await self._look()
        refresh(story.tell(seen, act.words))
        end = time.monotonic() + act.seconds
        while not act.reached(seen):
            if time.monotonic() > end:
                raise HarnessError(self._shortfall(act, seen))
            seen = await self._look_on(story, refresh)
        end = time.monotonic() + act.pause
        while time.monotonic() < end:
            await self._look_on(story, refresh)
        refresh(story.keep())

    async def _look_on(self, story: Story, refresh: Refresh) -> Seen:
        await asyncio.sleep(LOOK_SECONDS)
        seen = await self._look()
        refresh(story.tell(seen))
        return seen

    async def _look(self) -> Seen:
        plane = self.cluster.plane
        if not self.cluster.adapter.process.running:
            raise HarnessError(f"the adapter ended: {self.cluster.adapter.process.tail()}")
        return look(
            second=int(time.monotonic() - self.started),
            load_on=self.switch.on,
            autoscaler=await plane.get(HPA_PATH),
            pods=await plane.get(PODS_PATH),
            samples=await self.cluster.prometheus.query(GPU_USE),
        )

    async def _type(self, line: str) -> None:
        self.screen.typed(line, await self._output(line))

    async def _output(self, line: str) -> str:
        """What kubectl prints; its complaint when it fails, as a person would see it."""
        done = await self.cluster.plane.kubectl(*shlex.split(line)[1:], check=False)
        return done.stdout + done.stderr

    def _shortfall(self, act: Act, seen: Seen) -> str:
        return (
            f"not {act.replicas} replicas within {act.seconds:g} s ({act.words}). Seen last: "
            f"{seen.replicas} run, {seen.desired} wanted, value {seen.current or '<unknown>'}, "
            f"target {seen.target}, GPU use {dict(seen.utilisation)}"
        )
