"""Calls of OpenAI's library, each by its name; an error is told as the library raises it."""

import json
import sys

from openai import APIStatusError, OpenAI

given = json.loads(sys.argv[1])
TOOLS = [
    {"type": "function", "function": {"name": name, "description": tool["description"], "parameters": tool["schema"]}}
    for name, tool in given["tools"].items()
]


def said(scene):
    return [{"role": "user", "content": f"scene: {scene}"}]


def usage(counts):
    return [counts.prompt_tokens, counts.completion_tokens]


def chat(client, model, scene):
    answer = client.chat.completions.create(model=model, messages=said(scene))
    return {"text": answer.choices[0].message.content, "usage": usage(answer.usage)}


def streamed(client, model, scene):
    text, counts = "", None
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(model=model, messages=said(scene), stream=True, stream_options=options):
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
        counts = chunk.usage or counts
    return {"text": text, "usage": usage(counts)}


def helper(client, model, scene):
    with client.chat.completions.stream(model=model, messages=said(scene)) as stream:
        for _ in stream:
            pass
        return {"text": stream.get_final_completion().choices[0].message.content}


def tools(client, model, scene):
    messages = said(scene)
    asked = client.chat.completions.create(model=model, messages=messages, tools=TOOLS).choices[0].message
    return told(client, model, messages, asked)


def tools_streamed(client, model, scene):
    messages = said(scene)
    with client.chat.completions.stream(model=model, messages=messages, tools=TOOLS) as stream:
        for _ in stream:
            pass
        return told(client, model, messages, stream.get_final_completion().choices[0].message)


def told(client, model, messages, asked):
    calls = [[call.function.name, json.loads(call.function.arguments)] for call in asked.tool_calls]
    made = [call.model_dump(include={"id": True, "type": True, "function": {"name", "arguments"}}) for call in asked.tool_calls]
    messages.append({"role": "assistant", "content": asked.content, "tool_calls": made})
    for call in asked.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": f"result of {call.function.name}"})
    answer = client.chat.completions.create(model=model, messages=messages, tools=TOOLS)
    return {"calls": calls, "text": answer.choices[0].message.content}


def responses(client, model, scene):
    answer = client.responses.create(model=model, input=f"scene: {scene}")
    return {"text": answer.output_text, "usage": [answer.usage.input_tokens, answer.usage.output_tokens]}


def responses_streamed(client, model, scene):
    with client.responses.stream(model=model, input=f"scene: {scene}") as stream:
        for _ in stream:
            pass
        return {"text": stream.get_final_response().output_text}


def listed(client, model, scene):
    return {"text": " ".join(each.id for each in client.models.list())}


def tell(job):
    client = OpenAI(base_url=job["url"] + "/v1", api_key="client-key", max_retries=job["retries"])
    try:
        return globals()[job["call"]](client, job["model"], job["scene"])
    except APIStatusError as error:
        return {"error": type(error).__name__, "status": error.status_code, "message": message_of(error.body)}


def message_of(body):
    return body.get("message") if isinstance(body, dict) else body


print(json.dumps([tell(job) for job in given["jobs"]]))
