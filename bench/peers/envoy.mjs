import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { built } from '../../e2e/extensions/servers/built.ts'
import { programAt, programVersion } from '../machine.mjs'

/** @type {import('./index.mjs').Peer} */
export const envoy = {
  name: 'envoy',
  variable: 'BENCH_ENVOY',
  find() {
    const installed = built('envoy', 'requirements.txt')
    const command = programAt('BENCH_ENVOY', 'envoy') ?? (existsSync(installed) ? installed : null)
    return command && { command, version: programVersion(command, ['--version'], /\/(\d[\d.]*)\//) }
  },
  plan: (setup) => ({
    // JSON is valid YAML.
    files: { 'envoy.yaml': JSON.stringify(config(setup)) },
    args: ['-c', join(setup.dir, 'envoy.yaml'), '--concurrency', '1', '-l', 'error', '--disable-hot-restart'],
  }),
}

function config({ port, origin, protocol, certificate, extension, services }) {
  const { filters = [], manager = {} } = extension ? EXTENSIONS[extension] : {}
  const isTls = protocol === 'https' || protocol === 'h2'
  const isHttp2 = protocol === 'h2c' || protocol === 'h2'
  const connections = typed('filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: 'traffic',
    codec_type: isHttp2 ? 'HTTP2' : 'HTTP1',
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes: [ROUTE] }] },
    http_filters: [...filters, { name: 'router', typed_config: typed('filters.http.router.v3.Router') }],
    ...manager,
  })
  const tls = typed('transport_sockets.tls.v3.DownstreamTlsContext', {
    common_tls_context: {
      tls_params: { tls_minimum_protocol_version: 'TLSv1_3' },
      alpn_protocols: [isHttp2 ? 'h2' : 'http/1.1'],
      tls_certificates: [
        { certificate_chain: { filename: certificate?.cert }, private_key: { filename: certificate?.key } },
      ],
    },
  })
  const chain = {
    filters: [{ name: 'connections', typed_config: connections }],
    ...(isTls && { transport_socket: { name: 'tls', typed_config: tls } }),
  }
  return {
    static_resources: {
      listeners: [{ address: loopback(port), filter_chains: [chain] }],
      clusters: [cluster('origin', origin), ...(services ? [cluster('services', services, HTTP2)] : [])],
    },
  }
}

const ROUTE = {
  match: { prefix: '/' },
  // No timeout, because of streams and slow readers.
  route: {
    cluster: 'origin',
    timeout: '0s',
    rate_limits: [{ actions: [{ generic_key: { descriptor_key: 'client', descriptor_value: 'all' } }] }],
  },
}

const services = { envoy_grpc: { cluster_name: 'services' }, timeout: '2s' }

/** The extensions with which Portico is compared. */
const EXTENSIONS = {
  extAuthGrpc: {
    filters: [filter('ext_authz.v3.ExtAuthz', { transport_api_version: 'V3', grpc_service: services })],
  },
  extAuthHttp: {
    filters: [
      filter('ext_authz.v3.ExtAuthz', {
        transport_api_version: 'V3',
        http_service: { server_uri: { uri: 'http://127.0.0.1', cluster: 'origin', timeout: '2s' } },
      }),
    ],
  },
  extProc: {
    filters: [
      filter('ext_proc.v3.ExternalProcessor', {
        grpc_service: services,
        message_timeout: '2s',
        processing_mode: { request_body_mode: 'NONE', response_body_mode: 'NONE' },
      }),
    ],
  },
  globalLimit: {
    filters: [
      filter('ratelimit.v3.RateLimit', {
        domain: 'bench',
        failure_mode_deny: true,
        rate_limit_service: { transport_api_version: 'V3', grpc_service: services },
      }),
    ],
  },
  tracing: { manager: { tracing: tracing(100) } },
  tracingSome: { manager: { tracing: tracing(1) } },
  otlpLog: {
    manager: {
      access_log: [
        {
          name: 'otlp',
          typed_config: typed('access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig', {
            common_config: { log_name: 'request', transport_api_version: 'V3', grpc_service: services },
            body: { string_value: 'request' },
            attributes: {
              values: Object.entries({
                'src.addr': '%DOWNSTREAM_REMOTE_ADDRESS%',
                'http.method': '%REQ(:METHOD)%',
                'http.host': '%REQ(:AUTHORITY)%',
                'http.path': '%REQ(:PATH)%',
                'http.version': '%PROTOCOL%',
                'http.status': '%RESPONSE_CODE%',
                duration: '%DURATION%',
                'request.bytes': '%BYTES_RECEIVED%',
                'response.bytes': '%BYTES_SENT%',
                route: '%ROUTE_NAME%',
                endpoint: '%UPSTREAM_HOST%',
              }).map(([key, format]) => ({ key, value: { string_value: format } })),
            },
          }),
        },
      ],
    },
  },
}

function tracing(percent) {
  const config = {
    '@type': 'type.googleapis.com/envoy.config.trace.v3.OpenTelemetryConfig',
    grpc_service: services,
    service_name: 'bench',
  }
  return {
    random_sampling: { value: percent },
    provider: { name: 'envoy.tracers.opentelemetry', typed_config: config },
  }
}

function filter(type, value) {
  return { name: type, typed_config: typed(`filters.http.${type}`, value) }
}

function typed(type, value = {}) {
  return { '@type': `type.googleapis.com/envoy.extensions.${type}`, ...value }
}

function cluster(name, port, more = {}) {
  return {
    name,
    type: 'STATIC',
    connect_timeout: '5s',
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address: loopback(port) } }] }] },
    ...more,
  }
}

function loopback(port) {
  return { socket_address: { address: '127.0.0.1', port_value: port } }
}

const HTTP2 = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': typed('upstreams.http.v3.HttpProtocolOptions', {
      explicit_http_config: { http2_protocol_options: {} },
    }),
  },
}
