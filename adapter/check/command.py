"""`gpu-metrics-adapter check`: read, look, print, and give the exit code."""

import asyncio
import sys
import time
from collections.abc import Sequence

from adapter.check.backend import Look
from adapter.check.checking import check_against, check_alone
from adapter.check.files import Files, read_files
from adapter.check.options import Asked, read
from adapter.check.printing import as_json, print_tables
from adapter.check.report import Report
from adapter.engine.discovery import look_back
from adapter.errors import ClusterDown, InputError, Problem
from adapter.model.kinds import Kinds
from adapter.settings import Settings
from adapter.sources.kinds import fetch_kinds
from adapter.sources.kube import KubeApi
from adapter.sources.prometheus import Prometheus
from adapter.telemetry import Telemetry


def run(argv: Sequence[str]) -> int:
    """Check what the command line names, print the report, and give the exit code.

    0 clean, 1 with warnings when `--strict` is given, 2 with errors. Raises InputError when the
    command line, or a file that a flag names, is wrong.
    """
    asked = read(argv)
    report = asyncio.run(_checked(asked))
    if asked.output == "json":
        sys.stdout.write(f"{as_json(report)}\n")
    else:
        print_tables(report, sys.stdout)
    return report.exit_code(strict=asked.settings.prometheus.strict)


async def _checked(asked: Asked) -> Report:
    files, kinds = read_files(asked.paths), await _kinds(asked.settings)
    if not asked.settings.prometheus_url_given:
        return check_alone(files, kinds)
    return await _looked(files, asked.settings, kinds)


async def _looked(files: Files, settings: Settings, kinds: Kinds | None) -> Report:
    prometheus, now = Prometheus(settings.prometheus, Telemetry()), time.time()
    start = now - look_back(settings.discovery)
    try:
        look = Look(backend=prometheus, start=start, end=now)
        return await check_against(files, look, kinds)
    finally:
        await prometheus.aclose()


async def _kinds(settings: Settings) -> Kinds | None:
    path = settings.lister_kubeconfig
    if path is None:
        return None
    api = await KubeApi.connect(path)
    try:
        return await fetch_kinds(api)
    except ClusterDown as error:
        cure = "see that --lister-kubeconfig is right and its cluster can be reached from here"
        raise InputError([Problem(file=str(path), fault=str(error), cure=cure)]) from error
    finally:
        await api.aclose()
