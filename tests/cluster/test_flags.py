"""Command lines as people and the Helm chart give them, and files that change or are wrong."""

import os
import ssl
import stat
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.cluster.adapter import (
    REPOSITORY,
    SERVER_NAMES,
    AdapterProcess,
    adapter_kubeconfig,
    grant,
)
from tests.cluster.exporter import EXPORTER_NAMESPACE, SERVICE, Exporter, utilisation
from tests.cluster.kubelet import Kubelet
from tests.cluster.plane import ControlPlane
from tests.cluster.ports import free_port
from tests.cluster.processes import Completed, Process, run
from tests.cluster.prometheus import PrometheusServer
from tests.cluster.scene import eventually, namespace, pod, run_pods, values

pytestmark = pytest.mark.anyio

SPACE = "flags"
METRIC = "DEV_GPU_UTIL_current"
MASTER = {"X-Remote-User": "somebody", "X-Remote-Group": "system:masters"}
COMMAND = (sys.executable, "-m", "adapter")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}


@pytest.fixture(scope="module")
async def space(
    plane: ControlPlane, kubelet: Kubelet, exporter: Exporter, prometheus: PrometheusServer
) -> AsyncIterator[str]:
    """A namespace with a busy pod, and the adapter's rights."""
    exporter.release()
    exporter.load = utilisation(lambda binding: 33 if binding.namespace == SPACE else None)
    await grant(plane)
    async with namespace(plane, kubelet, SPACE) as name:
        await run_pods(plane, pod(name, "one", gpus=1))
        await prometheus.wait_for(f'DCGM_FI_DEV_GPU_UTIL{{exported_namespace="{name}"}} == 33')
        yield name


@pytest.fixture(scope="module")
async def built_in(
    plane: ControlPlane,
    space: str,
    prometheus: PrometheusServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[AdapterProcess]:
    """An adapter without a file of rules, not registered."""
    adapter = AdapterProcess(
        folder=tmp_path_factory.mktemp("built-in"),
        kubeconfig=adapter_kubeconfig(plane),
        prometheus_url=prometheus.url,
        flags=("--metrics-relist-interval=1s", "--shutdown-delay=0s"),
    )
    async with adapter:
        yield adapter


def kubeconfigs(plane: ControlPlane) -> list[str]:
    """The flags that stand for the pod's own account."""
    config = adapter_kubeconfig(plane)
    names = ("lister", "authentication", "authorization")
    return [f"--{name}-kubeconfig={config}" for name in names]


@asynccontextmanager
async def serving(
    plane: ControlPlane, folder: Path, arguments: Sequence[str]
) -> AsyncIterator[httpx.AsyncClient]:
    """An adapter with exactly these arguments and a port; gives the front proxy's client.

    It makes its own serving pair in the folder.
    """
    port = free_port()
    async with httpx.AsyncClient(
        base_url=f"https://localhost:{port}", verify=_front_proxy(plane), headers=MASTER, timeout=20
    ) as http:

        async def ready() -> bool:
            try:
                return (await http.get("/readyz")).is_success
            except httpx.TransportError:
                return False

        process = Process(
            name="adapter",
            command=[*COMMAND, *arguments, f"--secure-port={port}", f"--cert-dir={folder}"],
            log=folder / "adapter.log",
            environment=ENVIRONMENT,
            ready=ready,
        )
        async with process:
            yield http


def _front_proxy(plane: ControlPlane) -> ssl.SSLContext:
    """Shows the front proxy's certificate; what the server shows is another test's business."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    pair = plane.pki.proxy_client
    context.load_cert_chain(pair.certificate, pair.key)
    return context


async def command(*arguments: str | Path) -> Completed:
    """Run the adapter to its end."""
    return await run([*COMMAND, *arguments], environment=ENVIRONMENT, seconds=20)


async def test_the_helm_charts_command_line_serves(
    plane: ControlPlane, space: str, prometheus: PrometheusServer, tmp_path: Path
) -> None:
    """The chart's arguments begin with the program's path in its own image."""
    rules = tmp_path / "config.yaml"
    rules.write_text((REPOSITORY / "manifests/base/config.yaml").read_text())
    chart = [
        "/adapter",
        f"--prometheus-url={prometheus.url}",
        "--metrics-relist-interval=1m",
        "--v=4",
        f"--config={rules}",
        "--logtostderr=true",
    ]
    ours = [*kubeconfigs(plane), "--bind-address", "127.0.0.1", "--shutdown-delay=0s"]
    async with serving(plane, tmp_path, [*chart, *ours]) as http:
        assert await values(http, f"namespaces/{space}/pods/*/{METRIC}") == {"one": "33"}


async def test_helm_values_name_prometheus_when_no_flag_does(
    plane: ControlPlane, space: str, prometheus: PrometheusServer, tmp_path: Path
) -> None:
    rules = tmp_path / "values.yaml"
    own = (REPOSITORY / "tests/cluster/rules.yaml").read_text()
    standard = "{url: http://prometheus-operated.prometheus.svc, port: 9090}"
    assert standard in own
    rules.write_text(own.replace(standard, f"{{url: http://127.0.0.1, port: {prometheus.port}}}"))
    ours = [*kubeconfigs(plane), "--bind-address=127.0.0.1", "--shutdown-delay=0s"]
    async with serving(plane, tmp_path, [f"--config={rules}", *ours]) as http:
        assert await values(http, f"namespaces/{space}/pods/*/{METRIC}") == {"one": "33"}


async def test_without_files_a_pair_is_made_that_only_its_owner_can_read(
    plane: ControlPlane, space: str, prometheus: PrometheusServer, tmp_path: Path
) -> None:
    arguments = [f"--prometheus-url={prometheus.url}", *kubeconfigs(plane), "--shutdown-delay=0s"]
    async with serving(plane, tmp_path, [*arguments, "--bind-address=127.0.0.1"]) as http:
        trust = ssl.create_default_context(cafile=str(tmp_path / "apiserver.crt"))
        async with httpx.AsyncClient(base_url=http.base_url, verify=trust) as stranger:
            assert (await stranger.get("/livez")).text == "ok"
    assert stat.S_IMODE((tmp_path / "apiserver.key").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        (f"namespaces/{SPACE}/pods/*/{METRIC}", {"one": "33"}),
        (f"namespaces/{SPACE}/metrics/{METRIC}", {SPACE: "33"}),
    ],
)
async def test_the_built_in_rules_serve_without_a_file(
    plane: ControlPlane, built_in: AdapterProcess, path: str, wanted: dict[str, str]
) -> None:
    async with built_in.client(plane.pki.proxy_client) as http:
        http.headers.update(MASTER)
        assert await eventually(lambda: values(http, path), wanted) == wanted


async def test_the_built_in_rules_know_nodes_by_the_exporters_label(
    plane: ControlPlane, kubelet: Kubelet, built_in: AdapterProcess
) -> None:
    """One of the four GPUs of the pod's node is busy: 33 / 4 = 8.25."""
    [slot] = kubelet.bindings()
    async with built_in.client(plane.pki.proxy_client) as http:
        http.headers.update(MASTER)
        assert await values(http, f"nodes/{slot.node}/{METRIC}") == {slot.node: "8250m"}


async def test_the_built_in_rules_never_give_a_value_to_the_exporters_pod(
    plane: ControlPlane, kubelet: Kubelet, built_in: AdapterProcess
) -> None:
    """Idle GPUs have no other pod label than that of the exporter's pod, which lives."""
    async with (
        namespace(plane, kubelet, EXPORTER_NAMESPACE) as home,
        built_in.client(plane.pki.proxy_client) as http,
    ):
        await run_pods(plane, *(pod(home, f"{SERVICE}-gpu-node-{n}") for n in (1, 2)))
        http.headers.update(MASTER)
        path = f"namespaces/{home}/pods/*/{METRIC}"
        assert await eventually(lambda: values(http, path), {}) == {}


async def test_a_serving_pair_is_read_again_when_its_files_change(
    built_in: AdapterProcess,
) -> None:
    address = ("127.0.0.1", built_in.port)
    before = ssl.get_server_certificate(address)
    pair = built_in.authority.issue_server(SERVER_NAMES[0], SERVER_NAMES, ("127.0.0.1",))
    pair.write(built_in.folder, "serving", force=True)
    assert before != pair.certificate_pem.decode()

    async def shown() -> str:
        return ssl.get_server_certificate(address)

    wanted = pair.certificate_pem.decode()
    assert await eventually(shown, wanted, seconds=10) == wanted


async def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    bad = tmp_path / "config.yaml"
    bad.write_text(
        "rules:\n"
        "- seriesQuery: '{UUID!=\"\"}'\n"
        "  name: {matches: '^DCGM_(', as: x}\n"
        "  metricsQuery: <<.Serie>>\n"
        "- seriesQuery: up{\n"
        "  metricsQury: sum(<<.Series>>)\n"
    )
    done = await command(f"--config={bad}", "--prometheus-url=http://127.0.0.1:9")
    assert (done.code, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert [line.partition(": ")[2].partition(": ")[0] for line in lines] == [
        f"{bad}:3",
        f"{bad}:4",
        f"{bad}:5",
        f"{bad}:5",
        f"{bad}:6",
    ]


async def test_all_problems_of_the_command_line_are_told_at_once() -> None:
    done = await command("--freshness=soon", "--secure-port=70000", "--prometheus-ulr=http://p")
    assert done.code == 2
    named = ("--freshness", "--secure-port", "--prometheus-ulr")
    assert all(any(flag in line for line in done.stderr.splitlines()) for flag in named)
    assert "Traceback" not in done.stderr


async def test_a_port_that_is_taken_is_told_in_one_line(
    plane: ControlPlane, built_in: AdapterProcess
) -> None:
    taken = ["--bind-address=127.0.0.1", f"--secure-port={built_in.port}"]
    pair = [
        f"--tls-cert-file={built_in.folder / 'serving.crt'}",
        f"--tls-private-key-file={built_in.folder / 'serving.key'}",
    ]
    where = [*taken, *pair, "--prometheus-url=http://127.0.0.1:9"]
    done = await command(*where, *kubeconfigs(plane))
    assert done.code == 2
    assert f"cannot listen on 127.0.0.1 port {built_in.port}" in done.stderr.splitlines()[-1]
