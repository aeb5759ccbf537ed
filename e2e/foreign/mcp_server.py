"""A server by the Python SDK of MCP, first major line: its tools ask the client before they answer."""

import sys

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

server = FastMCP("python", host="127.0.0.1", port=int(sys.argv[1]), log_level="ERROR")


class Name(BaseModel):
    name: str


@server.tool()
async def elicit(ctx: Context) -> str:
    """On the stream of the call."""
    answer = await ctx.elicit(message="Who?", schema=Name)
    return answer.data.name if answer.action == "accept" else answer.action


@server.tool()
async def sample(ctx: Context) -> str:
    """On the stream that the session has of its own."""
    question = SamplingMessage(role="user", content=TextContent(type="text", text="capital?"))
    answer = await ctx.session.create_message(messages=[question], max_tokens=9)
    return answer.content.text


@server.tool()
async def roots(ctx: Context) -> str:
    """The same."""
    return str((await ctx.session.list_roots()).roots[0].uri)


server.run(transport="streamable-http")
