"""What every test may use."""

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The program runs on asyncio alone."""
    return "asyncio"
