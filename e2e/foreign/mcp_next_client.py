"""The Python SDK of MCP, second major line: pinned to one revision it asks no server who it is, and signs in with OAuth."""

import json
import sys
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata


class Storage:
    """Holds what the client was given, for this run."""

    def __init__(self) -> None:
        self.tokens = None
        self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens) -> None:
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client) -> None:
        self.client = client


class Person:
    """Opens the page that the client names, and is sent on to the identity provider."""

    def __init__(self) -> None:
        self.opened = ""
        self.sent_to = ""

    async def open(self, url: str) -> None:
        self.opened = url
        async with httpx2.AsyncClient(follow_redirects=False) as browser:
            self.sent_to = (await browser.get(url)).headers.get("location", "")

    async def come_back(self) -> AuthorizationCodeResult:
        state = parse_qs(urlsplit(self.sent_to).query).get("state", [""])[0]
        return AuthorizationCodeResult(code="a-code", state=state)


async def use(client: Client, asked: dict) -> dict:
    tools = sorted(tool.name for tool in (await client.list_tools()).tools)
    called = await client.call_tool(asked["tool"], asked["arguments"])
    return {"tools": tools, "text": called.content[0].text, "isError": called.is_error}


async def main(asked: dict) -> dict:
    url, mode = asked["url"], asked["mode"]
    if not asked.get("signsIn"):
        async with Client(url, mode=mode) as client:
            return await use(client, asked)
    person = Person()
    metadata = OAuthClientMetadata(client_name="test", redirect_uris=["http://127.0.0.1/callback"])
    provider = OAuthClientProvider(url, metadata, Storage(), person.open, person.come_back)
    async with httpx2.AsyncClient(auth=provider, follow_redirects=True) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            return {**await use(client, asked), "opened": person.opened, "sentTo": person.sent_to}


print(json.dumps(anyio.run(main, json.loads(sys.argv[1]))))
