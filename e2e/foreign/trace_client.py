"""The OpenTelemetry SDK of Python on both sides of the gateway: its span goes out with a request, and the backend, which
answers with the headers it got, goes on with the trace."""

import json
import sys
from urllib.request import Request, urlopen

from opentelemetry import baggage, trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.propagators.b3 import B3MultiFormat, B3SingleFormat
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

FORMS = {
    "W3C": CompositePropagator([TraceContextTextMapPropagator(), W3CBaggagePropagator()]),
    "B3 multi": B3MultiFormat(),
    "B3 single": B3SingleFormat(),
}


def main(asked: dict) -> dict:
    propagator = FORMS[asked["form"]]
    client = TracerProvider(sampler=ALWAYS_ON if asked["sampled"] else ALWAYS_OFF).get_tracer("client")
    with client.start_as_current_span("order") as span:
        headers: dict[str, str] = {}
        propagator.inject(headers, context=baggage.set_baggage("team", "red"))
        with urlopen(Request(asked["url"], headers=headers), timeout=60) as response:
            received = json.load(response)
    # It samples what it is told to, and nothing else.
    backend = TracerProvider(sampler=ParentBased(ALWAYS_OFF)).get_tracer("backend")
    context = propagator.extract(received)
    parent = trace.get_current_span(context).get_span_context()
    child = backend.start_span("serve", context=context)
    sent = span.get_span_context()
    return {
        "client": {"traceId": trace.format_trace_id(sent.trace_id), "spanId": trace.format_span_id(sent.span_id)},
        "backend": {
            "traceId": trace.format_trace_id(child.get_span_context().trace_id),
            "parentId": trace.format_span_id(parent.span_id),
            "isSampled": child.is_recording(),
        },
        "team": baggage.get_baggage("team", context),
    }


print(json.dumps(main(json.loads(sys.argv[1]))))
