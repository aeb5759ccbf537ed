/**
 * Notes for filters that do not restrict access and have no counterpart. The note is empty for filters that need no
 * counterpart.
 */
export const HARMLESS_FILTERS: Readonly<Record<string, string>> = {
  router: '',
  upstream_codec: '',
  dynamic_forward_proxy: "the gateway's backend resolves names itself",
  adaptive_concurrency: 'the gateway does not limit requests in progress',
  admission_control: 'the gateway does not reject requests by their success rate',
  alternate_protocols_cache: 'the gateway has no HTTP/3',
  bandwidth_limit: 'the gateway does not limit the rate of bodies',
  brotli: 'the gateway does not compress responses',
  buffer: 'the gateway streams bodies; frontend.http.maxBufferSize limits the bodies that policies read',
  cache: 'the gateway caches only responses of models: docs/response-cache.md',
  cache_v2: 'the gateway caches only responses of models: docs/response-cache.md',
  cdn_loop: 'configure an authorization rule with the header cdn-loop',
  compressor: 'the gateway does not compress responses',
  connect_grpc_bridge: 'the gateway does not translate Connect messages',
  custom_response: 'the gateway does not replace responses of backends',
  decompressor: 'the gateway does not decompress bodies',
  file_system_buffer: 'the gateway streams bodies instead of buffering them',
  geoip: 'the gateway does not know the location of addresses',
  grpc_http1_bridge: 'the gateway does not translate gRPC',
  grpc_stats: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  grpc_web: 'the gateway does not translate gRPC-Web',
  gzip: 'the gateway does not compress responses',
  header_to_metadata: "the gateway's expressions read headers directly: docs/expressions.md",
  health_check: '',
  ip_tagging: 'configure a transformation with source.address: docs/policies/traffic-transformation.md',
  json_to_metadata: "the gateway's expressions read bodies directly: docs/expressions.md",
  kill_request: 'the gateway has no counterpart for requests that end its process',
  on_demand: 'the gateway does not load routes on demand',
  original_src: 'the operating system chooses the source address of connections',
  set_metadata: 'configure a transformation that sets metadata: docs/policies/traffic-transformation.md',
  set_filter_state: 'configure a transformation that sets metadata: docs/policies/traffic-transformation.md',
  squash: 'the gateway has no connection to Squash debuggers',
  tap: 'configure the recorder for records of requests: docs/policies/frontend-recorder.md',
}

/** Notes for filters that change the meaning of requests for the upstream. Requests of their routes get 501. */
export const UNTRANSLATED_FILTERS: Readonly<Record<string, string>> = {
  aws_lambda: 'the gateway does not call Lambda functions',
  aws_request_signing: 'configure auth.aws for the backend: docs/policies/backend-auth.md',
  credential_injector: 'configure auth for the backend: docs/policies/backend-auth.md',
  gcp_authn: 'configure auth for the backend: docs/cloud-credentials.md',
  grpc_http1_reverse_bridge: 'the gateway does not translate gRPC',
  grpc_json_reverse_transcoder: 'the gateway does not translate gRPC',
  grpc_json_transcoder: 'the gateway does not translate JSON to gRPC',
}
