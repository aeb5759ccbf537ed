"""A processor and an authorizer on grpcio, with the messages of Envoy that the project of gRPC publishes."""

import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
from envoy.config.core.v3.base_pb2 import HeaderValue, HeaderValueOption
from envoy.extensions.filters.http.ext_proc.v3.processing_mode_pb2 import ProcessingMode
from envoy.service.auth.v3 import external_auth_pb2 as auth
from envoy.service.auth.v3 import external_auth_pb2_grpc as auth_grpc
from envoy.service.ext_proc.v3 import external_processor_pb2 as proc
from envoy.service.ext_proc.v3 import external_processor_pb2_grpc as proc_grpc
from envoy.type.v3.http_status_pb2 import HttpStatus
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


port, *connection_age_ms = sys.argv[1:]
options = [("grpc.so_reuseport", 0), *(("grpc.max_connection_age_ms", int(age)) for age in connection_age_ms)]
server = grpc.server(ThreadPoolExecutor(8), options=options)
proc_grpc.add_ExternalProcessorServicer_to_server(Processor(), server)
auth_grpc.add_AuthorizationServicer_to_server(Authorizer(), server)
server.add_insecure_port(f"127.0.0.1:{port}")
server.start()
server.wait_for_termination()
