"""A processor, an authorizer and a server of limits on grpcio, with the messages of Envoy that the project of gRPC publishes."""

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import grpc
from envoy.config.core.v3.base_pb2 import HeaderValue, HeaderValueOption
from envoy.extensions.filters.http.ext_proc.v3.processing_mode_pb2 import ProcessingMode
from envoy.service.auth.v3 import external_auth_pb2 as auth
from envoy.service.auth.v3 import external_auth_pb2_grpc as auth_grpc
from envoy.service.ext_proc.v3 import external_processor_pb2 as proc
from envoy.service.ext_proc.v3 import external_processor_pb2_grpc as proc_grpc
from envoy.service.ratelimit.v3 import rls_pb2 as rls
from envoy.service.ratelimit.v3 import rls_pb2_grpc as rls_grpc
from envoy.type.v3.http_status_pb2 import HttpStatus
from google.protobuf.duration_pb2 import Duration
from google.rpc.code_pb2 import OK, PERMISSION_DENIED
from google.rpc.status_pb2 import Status


def mutation(fields: dict[str, str], remove: tuple[str, ...] = ()) -> proc.HeaderMutation:
    options = [
        HeaderValueOption(header=HeaderValue(key=name, raw_value=value.encode())) for name, value in fields.items()
    ]
    return proc.HeaderMutation(set_headers=options, remove_headers=remove)


def fields_of(message: proc.HttpHeaders) -> dict[str, str]:
    return {field.key: field.raw_value.decode() for field in message.headers.headers}


class Processor(proc_grpc.ExternalProcessorServicer):
    """Bodies become upper case, headers say what was seen."""

    def Process(self, request_iterator, context):
        is_streamed = False
        for message in request_iterator:
            part = message.WhichOneof("request")
            if part == "request_headers":
                seen = fields_of(message.request_headers)
                is_streamed = message.protocol_config.request_body_mode == ProcessingMode.FULL_DUPLEX_STREAMED
                if seen[":path"] == "/broken":
                    raise RuntimeError("told to")
                if seen[":path"] == "/at-once":
                    said = mutation({"x-why": "by path"})
                    answer = proc.ImmediateResponse(status=HttpStatus(code=418), headers=said, body=b"from Python")
                    yield proc.ProcessingResponse(immediate_response=answer)
                    return
                common = proc.CommonResponse(
                    header_mutation=mutation({"x-seen": f"{seen[':method']} {seen['x-name']}"}, ("x-secret",))
                )
                yield proc.ProcessingResponse(request_headers=proc.HeadersResponse(response=common))
            elif part == "response_headers":
                seen = fields_of(message.response_headers)
                common = proc.CommonResponse(
                    header_mutation=mutation({"x-status": seen[":status"], "x-connection": context.peer()})
                )
                yield proc.ProcessingResponse(response_headers=proc.HeadersResponse(response=common))
            elif part in ("request_body", "response_body"):
                body = proc.BodyResponse(response=upper_case(getattr(message, part), is_streamed))
                yield proc.ProcessingResponse(**{part: body})
            else:
                yield proc.ProcessingResponse(**{part: proc.TrailersResponse()})


def upper_case(piece: proc.HttpBody, is_streamed: bool) -> proc.CommonResponse:
    body = piece.body.upper()
    if not is_streamed:
        return proc.CommonResponse(body_mutation=proc.BodyMutation(body=body))
    streamed = proc.StreamedBodyResponse(body=body, end_of_stream=piece.end_of_stream)
    return proc.CommonResponse(body_mutation=proc.BodyMutation(streamed_response=streamed))


class Authorizer(auth_grpc.AuthorizationServicer):
    """Ann may do everything."""

    def Check(self, request, context):
        http = request.attributes.request.http
        if http.path == "/broken":
            context.abort(grpc.StatusCode.UNAVAILABLE, "told to")
        tier = request.attributes.context_extensions.get("tier")
        seen = f"{http.method} {http.path} {http.body} {tier}"
        header = HeaderValueOption(header=HeaderValue(key="x-seen", value=seen))
        if http.headers.get("x-user") != "ann":
            denied = auth.DeniedHttpResponse(status=HttpStatus(code=402), headers=[header], body="only Ann may")
            return auth.CheckResponse(status=Status(code=PERMISSION_DENIED), denied_response=denied)
        decided = HeaderValueOption(header=HeaderValue(key="x-decided-by", value="python"))
        connection = HeaderValueOption(header=HeaderValue(key="x-connection", value=context.peer()))
        allowed = auth.OkHttpResponse(
            headers=[header], headers_to_remove=["x-secret"], response_headers_to_add=[decided, connection]
        )
        response = auth.CheckResponse(status=Status(code=OK), ok_response=allowed)
        response.dynamic_metadata.update({"team": "red"})
        return response


class Limiter(rls_grpc.RateLimitServiceServicer):
    """Whatever is named has fifty hits, and says how often it was asked about."""

    HITS = 50

    def __init__(self):
        self.used = Counter()
        self.asked = Counter()
        self.lock = Lock()

    def ShouldRateLimit(self, request, context):
        statuses = []
        for descriptor in request.descriptors:
            name = " ".join([request.domain, *(f"{entry.key}={entry.value}" for entry in descriptor.entries)])
            if name.endswith("=broken"):
                context.abort(grpc.StatusCode.INTERNAL, "told to")
            hits = descriptor.hits_addend.value if descriptor.HasField("hits_addend") else request.hits_addend or 1
            statuses.append(self.count(name, hits))
        is_over = any(status.code == rls.RateLimitResponse.OVER_LIMIT for status in statuses)
        asked = str(self.asked[name])
        return rls.RateLimitResponse(
            overall_code=rls.RateLimitResponse.OVER_LIMIT if is_over else rls.RateLimitResponse.OK,
            statuses=statuses,
            response_headers_to_add=[
                HeaderValue(key="x-asked", value=asked),
                HeaderValue(key="x-connection", value=context.peer()),
            ],
            request_headers_to_add=[HeaderValue(key="x-limited-by", value=name)],
            raw_body=b"from Python: no more" if is_over else b"",
        )

    def count(self, name, hits):
        with self.lock:
            self.asked[name] += 1
            self.used[name] += hits
            used = self.used[name]
        is_over = used > self.HITS if hits > 0 else used >= self.HITS
        limit = rls.RateLimitResponse.RateLimit(requests_per_unit=self.HITS, unit=rls.RateLimitResponse.RateLimit.HOUR)
        return rls.RateLimitResponse.DescriptorStatus(
            code=rls.RateLimitResponse.OVER_LIMIT if is_over else rls.RateLimitResponse.OK,
            current_limit=limit,
            limit_remaining=max(0, self.HITS - used),
            duration_until_reset=Duration(seconds=77),
        )


port, *connection_age_ms = sys.argv[1:]
options = [("grpc.so_reuseport", 0), *(("grpc.max_connection_age_ms", int(age)) for age in connection_age_ms)]
server = grpc.server(ThreadPoolExecutor(8), options=options)
proc_grpc.add_ExternalProcessorServicer_to_server(Processor(), server)
auth_grpc.add_AuthorizationServicer_to_server(Authorizer(), server)
rls_grpc.add_RateLimitServiceServicer_to_server(Limiter(), server)
server.add_insecure_port(f"127.0.0.1:{port}")
server.start()
server.wait_for_termination()
