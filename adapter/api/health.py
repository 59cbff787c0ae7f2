"""Liveness and readiness in the form that kubelets, people and scripts know from Kubernetes."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from adapter.errors import NotFound

Check = Callable[[], bool]
Note = Callable[[], Sequence[str]]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Verdict:
    lines: tuple[str, ...]
    failed: tuple[str, ...]


class Health:
    """`/healthz`, `/livez` and `/readyz`, each with `?verbose`, `?exclude=NAME` and `/NAME`.

    A check says whether all is well and takes no time. The answer names what failed, no more; the
    log has each change once.
    """

    def __init__(
        self,
        *,
        live: Mapping[str, Check],
        ready: Mapping[str, Check],
        notes: Mapping[str, Note] | None = None,
    ) -> None:
        """Take the named checks; `ping` comes first in each list without being given.

        `notes` gives, by check, what to tell below its line where checks are listed; it never
        makes one fail.
        """
        ping: dict[str, Check] = {"ping": lambda: True}
        self._checks = {
            "healthz": ping | dict(live),
            "livez": ping | dict(live),
            "readyz": ping | dict(ready),
        }
        self._notes = dict(notes or {})
        self._failing: dict[str, tuple[str, ...]] = dict.fromkeys(self._checks, ())

    def routes(self) -> list[Route]:
        """Give the routes of the three endpoints."""
        return [route for name in self._checks for route in self._routes_of(name)]

    def _routes_of(self, endpoint: str) -> Iterator[Route]:
        async def all_checks(request: Request) -> Response:
            return self._answer(endpoint, request)

        async def one_check(request: Request) -> Response:
            return self._answer_one(endpoint, request.path_params["check"])

        yield Route(f"/{endpoint}", all_checks)
        yield Route(f"/{endpoint}/{{check}}", one_check)

    def _answer(self, endpoint: str, request: Request) -> Response:
        excluded = frozenset(request.query_params.getlist("exclude"))
        verdict = self._judge(endpoint, excluded)
        if not excluded:
            self._note(endpoint, verdict.failed)
        told = "".join(f"{line}\n" for line in verdict.lines)
        if verdict.failed:
            return PlainTextResponse(f"{told}{endpoint} check failed\n", status_code=500)
        if "verbose" in request.query_params:
            return PlainTextResponse(f"{told}{endpoint} check passed\n")
        return PlainTextResponse("ok")

    def _answer_one(self, endpoint: str, name: str) -> Response:
        check = self._checks[endpoint].get(name)
        if check is None:
            raise NotFound(f"{endpoint} has no check named {name}")
        if check():
            return PlainTextResponse("ok")
        return PlainTextResponse(f"{name} failed: reason withheld\n", status_code=500)

    def _judge(self, endpoint: str, excluded: frozenset[str]) -> _Verdict:
        checks = self._checks[endpoint]
        asked = {name: check for name, check in checks.items() if name not in excluded}
        failed = tuple(name for name, check in asked.items() if not check())
        lines = [line for name in checks for line in self._told(name, excluded, failed)]
        if unknown := sorted(excluded - checks.keys()):
            names = ",".join(f'"{name}"' for name in unknown)
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}")
        return _Verdict(tuple(lines), failed)

    def _told(self, name: str, excluded: frozenset[str], failed: tuple[str, ...]) -> Iterator[str]:
        yield _line(name, excluded, failed)
        for note in self._notes[name]() if name in self._notes else ():
            yield f"warn: {name}: {' '.join(note.split())}"

    def _note(self, endpoint: str, failed: tuple[str, ...]) -> None:
        if failed == self._failing[endpoint]:
            return
        self._failing[endpoint] = failed
        _log.warning("health changed", extra={"endpoint": endpoint, "failing": list(failed)})


def _line(name: str, excluded: frozenset[str], failed: tuple[str, ...]) -> str:
    if name in excluded:
        return f"[+]{name} excluded: ok"
    return f"[-]{name} failed: reason withheld" if name in failed else f"[+]{name} ok"
