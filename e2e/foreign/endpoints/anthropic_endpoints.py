"""Message batches by Anthropic's library for Python."""

from anthropic import Anthropic, APIStatusError
from outcomes import ODD, Refused, run


def request(name, model, more={}):
    messages = [{"role": "user", "content": "scene: text"}]
    return {"custom_id": name, "params": {"model": model, "max_tokens": 50, "messages": messages, **more}}


def results_of(batches, name):
    results = []
    for each in batches.results(name):
        result = each.result
        text = result.message.content[0].text if result.type == "succeeded" else result.error.error.message
        results.append([each.custom_id, text])
    return results


def from_creation_to_end(batches, model):
    created = batches.create(requests=[request("q0", model), request("q1", model)])
    got = batches.retrieve(created.id)
    results = results_of(batches, got.id)
    canceled = batches.cancel(got.id)
    return {
        "statuses": [created.processing_status, got.processing_status, canceled.processing_status],
        "processing": created.request_counts.processing,
        "results": results,
        "type": batches.delete(got.id).type,
    }


def batch(client, model):
    return from_creation_to_end(client.messages.batches, model)


def batch_beta(client, model):
    return from_creation_to_end(client.beta.messages.batches, model)


def batch_unknown(client, model):
    batches = client.messages.batches
    return results_of(batches, batches.create(requests=[request("q0", model, ODD)]).id)


def batch_unknown_member(client, model):
    client.messages.batches.create(requests=[request("q0", model)], extra_body=ODD)


def batches(client, model):
    return [each.id for each in client.messages.batches.list(limit=5)]


def call(function):
    def made(job):
        client = Anthropic(base_url=job["url"], auth_token=job["key"], max_retries=0)
        try:
            return function(client, job["model"])
        except APIStatusError as error:
            raise Refused(error.status_code, error.body["error"]["message"])

    return made


run({each.__name__: call(each) for each in [batch, batch_beta, batch_unknown, batch_unknown_member, batches]})
