"""What the values of Prometheus Adapter's Helm chart say beside the rules."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from adapter.rules.nodes import Cursor

# Every other key at the top of the chart's values. They shape its Deployment, not its answers, so
# a whole values.yaml can be given as it is.
_CHART_WORDS = """
    affinity topologySpreadConstraints image logLevel metricsRelistInterval listenPort
    nodeSelector priorityClassName podDisruptionBudget podLabels podAnnotations
    deploymentAnnotations customLabels customAnnotations replicas replicaCount
    revisionHistoryLimit rbac resources service serviceAccount psp automountServiceAccountToken
    securityContext podSecurityContext strategy tls certManager tolerations env extraArguments
    extraContainers extraVolumes extraVolumeMounts extraManifests hostNetwork dnsPolicy
    dnsConfig nameOverride fullnameOverride namespaceOverride livenessProbe readinessProbe
    startupProbe global imagePullSecrets
"""
CHART_KEYS = tuple(_CHART_WORDS.split())
_TOLD_BY_FLAGS = {
    "metricsRelistInterval": "--metrics-relist-interval",
    "extraArguments": "these flags",
}


def read_prometheus_url(cursor: Cursor) -> str | None:
    """Give the address as the chart joins it, `url[:port]path`; None when none is given."""
    before = len(cursor.findings.problems)
    given = cursor.mapping("url", "port", "path")
    url, port, path = (
        given[key].text().strip() if key in given else "" for key in ("url", "port", "path")
    )
    if not url:
        if port or path:
            cursor.problem("port and path without a url", "add url: http://HOST")
        return None
    if port and not (port.isascii() and port.isdigit() and int(port[:6]) < 65536):
        given["port"].problem("not a port", "write a number from 1 to 65535, or leave it out")
    joined = f"{url}:{port}{path}" if port.strip("0") else f"{url}{path}"
    if len(cursor.findings.problems) == before:
        _check_url(joined, given["url"])
    return joined


def warn_of_unread(given: Mapping[str, Cursor]) -> None:
    """Warn of values that change what the chart's adapter does and are given to ours by flags."""
    for key, flag in _TOLD_BY_FLAGS.items():
        if key in given and not given[key].is_empty:
            given[key].warn("not read from this file", f"start the adapter with {flag}")


def _check_url(url: str, cursor: Cursor) -> None:
    if "{{" in url:
        cursor.problem("Helm's templates are not filled in here", "write the address itself")
        return
    cure = "write url: http://HOST, with port and path beside it"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  (reading it checks it)
    except ValueError:
        cursor.problem("with port and path it is no address", cure)
        return
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        cursor.problem("not an http or https address", cure)
