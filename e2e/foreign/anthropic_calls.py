"""Calls of Anthropic's library, each by its name; an error is told as the library raises it."""

import json
import sys

from anthropic import Anthropic, APIStatusError

given = json.loads(sys.argv[1])
TOOLS = [
    {"name": name, "description": tool["description"], "input_schema": tool["schema"]}
    for name, tool in given["tools"].items()
]


def said(scene):
    return [{"role": "user", "content": f"scene: {scene}"}]


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def chat(client, model, scene):
    answer = client.messages.create(model=model, max_tokens=1000, messages=said(scene))
    counts = answer.usage
    cached = (counts.cache_read_input_tokens or 0) + (counts.cache_creation_input_tokens or 0)
    return {"text": text_of(answer), "usage": [counts.input_tokens + cached, counts.output_tokens]}


def streamed(client, model, scene):
    with client.messages.stream(model=model, max_tokens=1000, messages=said(scene)) as stream:
        text = "".join(stream.text_stream)
        counts = stream.get_final_message().usage
    cached = (counts.cache_read_input_tokens or 0) + (counts.cache_creation_input_tokens or 0)
    return {"text": text, "usage": [counts.input_tokens + cached, counts.output_tokens]}


def tools(client, model, scene):
    messages = said(scene)
    return told(client, model, messages, client.messages.create(model=model, max_tokens=1000, messages=messages, tools=TOOLS))


def tools_streamed(client, model, scene):
    messages = said(scene)
    with client.messages.stream(model=model, max_tokens=1000, messages=messages, tools=TOOLS) as stream:
        return told(client, model, messages, stream.get_final_message())


def told(client, model, messages, asked):
    uses = [block for block in asked.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": use.id, "content": f"result of {use.name}"} for use in uses]
    messages.append({"role": "assistant", "content": [plain(block) for block in asked.content]})
    messages.append({"role": "user", "content": results})
    answer = client.messages.create(model=model, max_tokens=1000, messages=messages, tools=TOOLS)
    return {"calls": [[use.name, use.input] for use in uses], "text": text_of(answer)}


def plain(block):
    return block.model_dump(include={"type", "text", "id", "name", "input"}, exclude_none=True)


def listed(client, model, scene):
    return {"text": " ".join(each.id for each in client.models.list())}


def tell(job):
    client = Anthropic(base_url=job["url"], api_key="client-key", max_retries=job["retries"])
    try:
        return globals()[job["call"]](client, job["model"], job["scene"])
    except APIStatusError as error:
        return {"error": type(error).__name__, "status": error.status_code, "message": message_of(error.body)}


def message_of(body):
    return body["error"]["message"] if isinstance(body, dict) else body


print(json.dumps([tell(job) for job in given["jobs"]]))
