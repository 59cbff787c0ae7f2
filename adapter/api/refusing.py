"""What is told when the board gives no reading."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Protocol

from adapter.api import reasons
from adapter.errors import (
    ApiError,
    DeadlineExceeded,
    EndpointMissing,
    InternalError,
    PrometheusDown,
    QueryRefused,
    ServiceUnavailable,
)


class Refuses(reasons.Placed, Protocol):
    """A question that can be refused in words that clients know."""

    def refuse(self, kind: type[ApiError], reason: str) -> ApiError:
        """Give the error that begins with those words and goes on with the reason."""
        ...


@contextmanager
def refusing(question: Refuses, rule: object) -> Iterator[None]:
    """Raise what the board raises as the ApiError that tells it; `rule` is whose query it was."""
    try:
        yield
    except InternalError as error:
        raise question.refuse(InternalError, error.message) from error
    except QueryRefused as error:
        reason = reasons.refused(question, rule, str(error))
        raise question.refuse(InternalError, reason) from error
    except (PrometheusDown, EndpointMissing) as error:
        reason = reasons.silent(question, str(error))
        raise question.refuse(ServiceUnavailable, reason) from error


@asynccontextmanager
async def in_time(question: Refuses) -> AsyncIterator[None]:
    """Raise DeadlineExceeded when the block takes longer than the question's deadline."""
    try:
        async with asyncio.timeout(question.deadline):
            yield
    except TimeoutError:
        raise question.refuse(DeadlineExceeded, reasons.late(question)) from None
