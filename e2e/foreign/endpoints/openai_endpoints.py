"""The calls of OpenAI's library for Python that are no chats."""

import base64
import json
import re

from openai import APIStatusError, OpenAI
from outcomes import MASK, ODD, PICTURES, SOUND, SOUND_NAME, Refused, run

FILE = (SOUND_NAME, SOUND)


def tokens(usage):
    return [usage.input_tokens, usage.output_tokens]


def image(client, model):
    drawn = client.images.generate(model=model, prompt="a cat", n=2, size="1024x1024", user="ann")
    return {"images": [each.b64_json for each in drawn.data], "tokens": tokens(drawn.usage)}


def image_streamed(client, model):
    stream = client.images.generate(model=model, prompt="a cat", stream=True, partial_images=1)
    return [[event.type, event.b64_json] for event in stream]


def image_unknown(client, model):
    client.images.generate(model=model, prompt="a cat", extra_body=ODD)


def edit(client, model):
    images = [(f"{at}.png", picture) for at, picture in enumerate(PICTURES)]
    edited = client.images.edit(
        model=model, image=images, mask=("mask.png", MASK), prompt="a hat", quality="high", n=1
    )
    return {"images": [each.b64_json for each in edited.data], "tokens": tokens(edited.usage)}


def edit_streamed(client, model):
    stream = client.images.edit(
        model=model, image=("0.png", PICTURES[0]), prompt="a hat", stream=True, partial_images=1
    )
    return [[event.type, event.b64_json] for event in stream]


def edit_unknown(client, model):
    client.images.edit(model=model, image=("0.png", MASK), prompt="a hat", extra_body=ODD)


def variation(client, model):
    varied = client.images.create_variation(
        model=model, image=("0.png", PICTURES[0]), n=2, response_format="b64_json"
    )
    return [each.b64_json for each in varied.data]


def speech(client, model):
    spoken = client.audio.speech.create(model=model, input="Grüezi 🎉", voice="alloy", speed=1.5)
    return base64.b64encode(spoken.read()).decode()


def speech_events(client, model):
    spoken = client.audio.speech.create(
        model=model, input="Grüezi 🎉", voice="alloy", stream_format="sse", instructions="slowly"
    )
    return re.findall(r"^event: (.*)$", spoken.text, re.MULTILINE)


def transcription(client, model):
    return client.audio.transcriptions.create(model=model, file=FILE, language="de", prompt="names").text


def transcription_verbose(client, model):
    heard = client.audio.transcriptions.create(
        model=model,
        file=FILE,
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
        temperature=0.5,
    )
    return [heard.text, float(heard.duration)]


def transcription_captions(client, model):
    return client.audio.transcriptions.create(model=model, file=FILE, response_format="srt")


def transcription_streamed(client, model):
    stream = client.audio.transcriptions.create(model=model, file=FILE, stream=True, include=["logprobs"])
    return [event.delta for event in stream if event.type == "transcript.text.delta"]


def transcription_unknown(client, model):
    client.audio.transcriptions.create(model=model, file=FILE, extra_body=ODD)


def translation(client, model):
    return client.audio.translations.create(model=model, file=FILE).text


def moderation(client, model):
    results = client.moderations.create(model=model, input=["peace", "violence"]).results
    return [[each.flagged, each.categories.violence, each.category_scores.violence] for each in results]


def moderation_parts(client, model):
    parts = [
        {"type": "text", "text": "violence"},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
    ]
    return [each.flagged for each in client.moderations.create(model=model, input=parts).results]


def moderation_unknown(client, model):
    client.moderations.create(model=model, input="peace", extra_body=ODD)


def upload(client, model):
    body = {"model": model, "messages": [{"role": "user", "content": "scene: text"}]}
    lines = [
        json.dumps({"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body})
        for name in ["q0", "q1"]
    ]
    return client.files.create(
        file=("requests.jsonl", "".join(f"{line}\n" for line in lines).encode()),
        purpose="batch",
        expires_after={"anchor": "created_at", "seconds": 3600},
    )


def batch(client, model):
    file = upload(client, model)
    created = client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"team": "red"},
    )
    got = client.batches.retrieve(created.id)
    results = [json.loads(line) for line in client.files.content(got.output_file_id).text.splitlines()]
    canceled = client.batches.cancel(got.id)
    info = client.files.retrieve(file.id)
    return {
        "statuses": [created.status, got.status, canceled.status],
        "counts": [got.request_counts.total, got.request_counts.completed],
        "metadata": got.metadata,
        "filename": info.filename,
        "purpose": info.purpose,
        "expires": info.expires_at,
        "deleted": client.files.delete(file.id).deleted,
        "answers": [
            [each["custom_id"], each["response"]["body"]["choices"][0]["message"]["content"]] for each in results
        ],
    }


def batch_unknown(client, model):
    client.batches.create(
        input_file_id=upload(client, model).id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        extra_body=ODD,
    )


def call(function):
    def made(job):
        client = OpenAI(base_url=job["url"] + "/v1", api_key=job["key"], max_retries=0)
        try:
            return function(client, job["model"])
        except APIStatusError as error:
            raise Refused(error.status_code, error.body.get("message") if isinstance(error.body, dict) else "")

    return made


CALLS = [
    *[image, image_streamed, image_unknown, edit, edit_streamed, edit_unknown, variation],
    *[speech, speech_events, transcription, transcription_verbose, transcription_captions],
    *[transcription_streamed, transcription_unknown, translation],
    *[moderation, moderation_parts, moderation_unknown, batch, batch_unknown],
]
run({function.__name__: call(function) for function in CALLS})
