"""The Python SDK of MCP, first major line: what a client sees while one of several servers fails."""

import json
import sys

import anyio
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.exceptions import McpError


async def main(asked: dict) -> dict:
    progress: list[float] = []

    async def report(step: float, _total: float | None, _message: str | None) -> None:
        progress.append(step)

    async with streamablehttp_client(asked["url"]) as (read, write, session_id):
        async with ClientSession(read, write) as session:
            begun = await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            errors = []
            for name in asked["failing"]:
                try:
                    await session.call_tool(name, {})
                    errors.append(None)
                except McpError as error:
                    errors.append({"code": error.error.code, "message": error.error.message})
            echo = await session.call_tool(asked["echo"], {"message": "still here"})
            await session.call_tool(asked["progress"], {}, progress_callback=report)
            had_session = session_id() is not None
    return {
        "version": begun.protocolVersion,
        "tools": tools,
        "errors": errors,
        "echo": echo.content[0].text,
        "progress": progress,
        "hadSession": had_session,
    }


print(json.dumps(anyio.run(main, json.loads(sys.argv[1]))))
