"""A client is replaced with its certificates, and closed when nobody uses it any more."""

import ssl

import httpx
import pytest

from adapter.sources.prometheus_clients import Clients

pytestmark = pytest.mark.anyio


def context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def making(made: list[httpx.AsyncClient]) -> Clients:
    def make(_: ssl.SSLContext) -> httpx.AsyncClient:
        client = httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(200)))
        made.append(client)
        return client

    return Clients(make)


async def test_one_context_has_one_client() -> None:
    made: list[httpx.AsyncClient] = []
    clients, one = making(made), context()
    async with clients.lent(one) as first, clients.lent(one) as second:
        assert first is second
    assert [client.is_closed for client in made] == [False]
    await clients.aclose()


async def test_a_client_nobody_uses_is_closed_when_another_takes_its_place() -> None:
    made: list[httpx.AsyncClient] = []
    clients = making(made)
    async with clients.lent(context()):
        pass
    async with clients.lent(context()):
        assert [client.is_closed for client in made] == [True, False]
    await clients.aclose()
    assert made[1].is_closed


async def test_a_client_in_use_lives_until_its_last_user_is_done() -> None:
    made: list[httpx.AsyncClient] = []
    clients = making(made)
    async with clients.lent(context()):
        async with clients.lent(context()):
            pass
        assert [client.is_closed for client in made] == [False, False]
    assert [client.is_closed for client in made] == [True, False]
    await clients.aclose()
