"""Who may read: through kube-apiserver and past it, directly."""

import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest

from certs.authority import Authority
from tests.cluster.adapter import AdapterProcess
from tests.cluster.exporter import Exporter, utilisation
from tests.cluster.kubelet import Kubelet
from tests.cluster.pki import FRONT_PROXY, Credentials
from tests.cluster.plane import ControlPlane
from tests.cluster.scene import V1BETA2, eventually, message_of, namespace, pod, run_pods, values

pytestmark = pytest.mark.anyio

SPACE = "access"
METRIC = "DEV_GPU_UTIL_current"
PODS = f"namespaces/{SPACE}/pods/*/{METRIC}"
PATH = f"{V1BETA2}/{PODS}"
OURS = {"one": "61"}
FORBIDDEN = (
    f'pods.custom.metrics.k8s.io "*" is forbidden: User "{{user}}" cannot get resource '
    f'"pods/{METRIC}" in API group "custom.metrics.k8s.io" in the namespace "{SPACE}"'
)
READER, STRANGER = (f"system:serviceaccount:{SPACE}:{name}" for name in ("reader", "stranger"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Bearer tokens of two ServiceAccounts; only the reader's may read the namespace's metrics."""

    reader: str
    stranger: str


@pytest.fixture(scope="module")
async def tokens(
    plane: ControlPlane, kubelet: Kubelet, exporter: Exporter, adapter: AdapterProcess
) -> AsyncIterator[Tokens]:
    """A pod with a value, one account that may read it and one that may not."""
    exporter.release()
    exporter.load = utilisation(lambda binding: 61 if binding.namespace == SPACE else None)
    async with namespace(plane, kubelet, SPACE):
        await run_pods(plane, pod(SPACE, "one", gpus=1))
        await plane.kubectl("create", "serviceaccount", "reader", "-n", SPACE)
        await plane.kubectl("create", "serviceaccount", "stranger", "-n", SPACE)
        role, subject = "gpu-metrics-adapter-reader", f"--serviceaccount={SPACE}:reader"
        await plane.kubectl(
            "create", "rolebinding", "reader", f"--clusterrole={role}", subject, "-n", SPACE
        )
        assert await eventually(lambda: values(plane.http, PODS), OURS) == OURS
        yield Tokens(reader=await _token(plane, "reader"), stranger=await _token(plane, "stranger"))


async def _token(plane: ControlPlane, account: str) -> str:
    return (await plane.kubectl("create", "token", account, "-n", SPACE)).stdout.strip()


async def ask(
    adapter: AdapterProcess,
    path: str = PATH,
    *,
    credentials: Credentials | None = None,
    **headers: str,
) -> tuple[int, str]:
    """Code and body, or a Status's message, of a request past kube-apiserver."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with adapter.client(credentials) as http:
        answer = await http.get(path, headers=named)
    return answer.status_code, answer.text if answer.is_success else message_of(answer)


async def test_a_user_without_rights_is_forbidden_by_kube_apiserver(
    plane: ControlPlane, tokens: Tokens
) -> None:
    async with plane.client("nobody", ["people"]) as http:
        answer = await http.get(PATH)
    assert (answer.status_code, message_of(answer)) == (403, FORBIDDEN.format(user="nobody"))


async def test_kubectl_tells_a_user_without_rights(plane: ControlPlane, tokens: Tokens) -> None:
    config = plane.kubeconfig_for("nobody")
    done = await plane.kubectl("get", "--raw", PATH, kubeconfig=config, check=False)
    assert done.code == 1
    assert 'is forbidden: User "nobody" cannot get resource' in done.stderr


async def test_a_right_in_one_namespace_is_enough_there_and_nowhere_else(
    plane: ControlPlane, tokens: Tokens
) -> None:
    reader = {"Authorization": f"Bearer {tokens.reader}"}
    trust = ssl.create_default_context(cafile=str(plane.pki.ca_file))
    async with httpx.AsyncClient(base_url=plane.url, verify=trust, headers=reader) as http:
        assert await values(http, PODS) == OURS
        assert list(await values(http, f"namespaces/default/pods/*/{METRIC}")) == ["403"]


async def test_a_service_accounts_token_is_believed_directly(
    adapter: AdapterProcess, tokens: Tokens
) -> None:
    code, body = await ask(adapter, Authorization=f"Bearer {tokens.reader}")
    assert code == 200
    assert '"value":"61"' in body


async def test_a_token_without_rights_is_forbidden_by_the_adapter_itself(
    adapter: AdapterProcess, tokens: Tokens
) -> None:
    told = await ask(adapter, Authorization=f"Bearer {tokens.stranger}")
    assert told == (403, FORBIDDEN.format(user=STRANGER))


async def test_a_token_that_kube_apiserver_does_not_know_is_unauthorized(
    adapter: AdapterProcess, tokens: Tokens
) -> None:
    assert await ask(adapter, Authorization="Bearer made-up") == (401, "Unauthorized")


async def test_a_forged_user_header_is_unauthorized(
    adapter: AdapterProcess, tokens: Tokens
) -> None:
    told = await ask(adapter, X_Remote_User="admin", X_Remote_Group="system:masters")
    assert told == (401, "Unauthorized")


async def test_a_user_header_beside_a_token_does_not_change_who_it_is(
    adapter: AdapterProcess, tokens: Tokens
) -> None:
    told = await ask(
        adapter,
        Authorization=f"Bearer {tokens.stranger}",
        X_Remote_User="admin",
        X_Remote_Group="system:masters",
    )
    assert told == (403, FORBIDDEN.format(user=STRANGER))


async def test_a_user_header_sent_through_kube_apiserver_counts_for_nothing(
    plane: ControlPlane, tokens: Tokens
) -> None:
    forged = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}
    async with plane.client("nobody") as http:
        assert (await http.get(PATH, headers=forged)).status_code == 403


async def test_the_front_proxys_certificate_speaks_for_its_user(
    plane: ControlPlane, adapter: AdapterProcess, tokens: Tokens
) -> None:
    pair = plane.pki.proxy_client
    code, _ = await ask(adapter, credentials=pair, X_Remote_User=READER)
    assert code == 200
    told = await ask(adapter, credentials=pair, X_Remote_User=STRANGER)
    assert told == (403, FORBIDDEN.format(user=STRANGER))


async def test_another_name_of_the_front_proxys_authority_is_unauthorized(
    plane: ControlPlane, adapter: AdapterProcess, tokens: Tokens
) -> None:
    pair = plane.pki.front_proxy.issue_client("somebody-else")
    certificate, key = pair.write(plane.folder, "somebody-else", force=True)
    credentials = Credentials(certificate=certificate, key=key)
    told = await ask(adapter, credentials=credentials, X_Remote_User=READER)
    assert told == (401, "Unauthorized")


async def test_a_certificate_of_another_authority_gets_no_value(
    plane: ControlPlane, adapter: AdapterProcess, tokens: Tokens
) -> None:
    """OpenSSL ends such a connection within the handshake."""
    pair = Authority.create("front-proxy-ca").issue_client(FRONT_PROXY)
    certificate, key = pair.write(plane.folder, "impostor", force=True)
    credentials = Credentials(certificate=certificate, key=key)
    with pytest.raises(httpx.TransportError):
        await ask(adapter, credentials=credentials, X_Remote_User=READER)


async def test_only_health_is_open_to_everybody(adapter: AdapterProcess, tokens: Tokens) -> None:
    codes = {path: (await ask(adapter, path))[0] for path in ("/livez", "/readyz", "/metrics", "/")}
    assert codes == {"/livez": 200, "/readyz": 200, "/metrics": 401, "/": 401}
