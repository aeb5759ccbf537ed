"""The calls of Google's library for Python."""

from google import genai
from google.genai import errors, types
from outcomes import ODD, Refused, run

UNKNOWN = types.HttpOptions(extra_body=ODD)


def generate(client, model):
    config = types.GenerateContentConfig(system_instruction="Be brief.", temperature=0.5, max_output_tokens=50)
    answer = client.models.generate_content(model=model, contents="scene: system", config=config)
    usage = answer.usage_metadata
    return {"text": answer.text, "tokens": [usage.prompt_token_count, usage.candidates_token_count]}


def generate_streamed(client, model):
    chunks = client.models.generate_content_stream(model=model, contents="scene: text")
    return "".join(chunk.text or "" for chunk in chunks)


def generate_unknown(client, model):
    config = types.GenerateContentConfig(http_options=UNKNOWN)
    return client.models.generate_content(model=model, contents="scene: text", config=config).text


def generate_failed(client, model):
    return client.models.generate_content(model=model, contents="scene: error-permission").text


def count(client, model):
    total = client.models.count_tokens(model=model, contents="How many tokens are these?").total_tokens
    return 3 < total < 100


def embed(client, model):
    config = types.EmbedContentConfig(output_dimensionality=6)
    answer = client.models.embed_content(model=model, contents=["one text", "another"], config=config)
    return [each.values for each in answer.embeddings]


def embed_settings(client, model):
    config = types.EmbedContentConfig(task_type="RETRIEVAL_DOCUMENT", title="One")
    answer = client.models.embed_content(model=model, contents="one text", config=config)
    return [each.values for each in answer.embeddings]


def embed_unknown(client, model):
    config = types.EmbedContentConfig(http_options=UNKNOWN)
    return len(client.models.embed_content(model=model, contents="one text", config=config).embeddings)


def call(function):
    def made(job):
        options = types.HttpOptions(base_url=job["url"])
        client = genai.Client(api_key=job["key"], http_options=options)
        try:
            return function(client, job["model"])
        except errors.APIError as error:
            raise Refused(error.code, error.message)

    return made


CALLS = [generate, generate_streamed, generate_unknown, generate_failed, count, embed, embed_settings, embed_unknown]
run({each.__name__: call(each) for each in CALLS})
