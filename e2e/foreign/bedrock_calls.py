"""Calls of boto3, signed as it does by default, each by its name; an error is told as the library raises it."""

import json
import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

given = json.loads(sys.argv[1])
TOOLS = {
    "tools": [
        {"toolSpec": {"name": name, "description": tool["description"], "inputSchema": {"json": tool["schema"]}}}
        for name, tool in given["tools"].items()
    ]
}


def said(scene):
    return [{"role": "user", "content": [{"text": f"scene: {scene}"}]}]


def usage(counts):
    cached = counts.get("cacheReadInputTokens", 0) + counts.get("cacheWriteInputTokens", 0)
    return [counts["inputTokens"] + cached, counts["outputTokens"]]


def converse(client, model, scene):
    answer = client.converse(modelId=model, messages=said(scene))
    return {"text": answer["output"]["message"]["content"][0]["text"], "usage": usage(answer["usage"])}


def converse_stream(client, model, scene):
    text, counts = "", None
    for event in client.converse_stream(modelId=model, messages=said(scene))["stream"]:
        text += event.get("contentBlockDelta", {}).get("delta", {}).get("text", "")
        counts = event.get("metadata", {}).get("usage", counts)
    return {"text": text, "usage": usage(counts)}


def tools(client, model, scene):
    messages = said(scene)
    asked = client.converse(modelId=model, messages=messages, toolConfig=TOOLS)["output"]["message"]
    uses = [block["toolUse"] for block in asked["content"] if "toolUse" in block]
    results = [
        {"toolResult": {"toolUseId": use["toolUseId"], "content": [{"text": f"result of {use['name']}"}]}} for use in uses
    ]
    messages += [asked, {"role": "user", "content": results}]
    answer = client.converse(modelId=model, messages=messages, toolConfig=TOOLS)
    text = answer["output"]["message"]["content"][0]["text"]
    return {"calls": [[use["name"], use["input"]] for use in uses], "text": text}


def body(scene):
    message = {"role": "user", "content": f"scene: {scene}"}
    return json.dumps({"anthropic_version": "bedrock-2023-05-31", "max_tokens": 1000, "messages": [message]})


def invoke_model(client, model, scene):
    answer = json.loads(client.invoke_model(modelId=model, body=body(scene))["body"].read())
    return {"text": answer["content"][0]["text"]}


def invoke_model_with_response_stream(client, model, scene):
    text = ""
    for event in client.invoke_model_with_response_stream(modelId=model, body=body(scene))["body"]:
        text += json.loads(event["chunk"]["bytes"]).get("delta", {}).get("text", "")
    return {"text": text}


def tell(job):
    client = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=job["url"],
        aws_access_key_id="AKIDCLIENT",
        aws_secret_access_key="client/secret",
        config=Config(retries={"total_max_attempts": 1 + job["retries"], "mode": "standard"}),
    )
    try:
        return globals()[job["call"]](client, job["model"], job["scene"])
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        return {"error": error.response["Error"]["Code"], "status": status, "message": error.response["Error"]["Message"]}


print(json.dumps([tell(job) for job in given["jobs"]]))
