"""The little server prints what is published at the moment."""

import httpx
import pytest

from tests.cluster.textserver import TextServer

pytestmark = pytest.mark.anyio


async def test_a_page_says_what_it_is_now_and_is_gone_when_withdrawn() -> None:
    texts = iter(["up 1\n", "up 0\n"])
    async with TextServer() as server, httpx.AsyncClient() as http:
        server.publish("/metrics", lambda: next(texts))
        url = f"http://{server.address}/metrics"
        first, second = await http.get(url), await http.get(f"{url}?x=1")
        server.withdraw("/metrics")
        third = await http.get(url)
    assert (first.text, second.text, third.status_code) == ("up 1\n", "up 0\n", 404)
    assert first.headers["content-type"].startswith("text/plain; version=0.0.4")
