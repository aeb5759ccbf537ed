import type { Directive } from './directive.ts'

/** Says of directives without an effect on requests why they are not carried; those that are read later replace the notes. */
export function noteKnownDirectives(list: readonly Directive[]): void {
  for (const directive of list) {
    const note = NOTES.get(directive.name) ?? NOTES.get(directive.name.split('_')[0] ?? '')
    if (note !== undefined) directive.notCarried(note)
    if (directive.name === 'stream' || directive.name === 'mail') {
      directive.notCarried('configure TCP, TLS or UDP listeners: docs/tls.md, docs/udp.md')
    }
    noteKnownDirectives(directive.block ?? [])
  }
}

const PROCESS = 'the directive sets up the process of nginx'
const LOGS = 'configure logs and metrics in the gateway: docs/logs-and-metrics.md'
const FILES = 'the gateway serves no files'
const NOTES: ReadonlyMap<string, string> = new Map([
  ...[
    'user',
    'worker_processes',
    'worker_connections',
    'worker_rlimit_nofile',
    'pid',
    'events',
    'daemon',
    'load_module',
  ].map((name) => [name, PROCESS] as const),
  ...['multi_accept', 'use', 'worker_shutdown_timeout', 'master_process', 'pcre_jit'].map(
    (name) => [name, PROCESS] as const,
  ),
  ...['access_log', 'error_log', 'log_format', 'log_not_found'].map((name) => [name, LOGS] as const),
  ...['root', 'alias', 'index', 'try_files', 'autoindex', 'expires', 'etag', 'charset'].map(
    (name) => [name, FILES] as const,
  ),
  ...[
    'sendfile',
    'tcp_nopush',
    'tcp_nodelay',
    'types_hash_max_size',
    'server_names_hash_bucket_size',
    'aio',
    'types',
  ].map((name) => [name, PROCESS] as const),
  ['default_type', 'responses have the content type that the backend sets'],
  ['gzip', 'the gateway does not compress responses'],
  ['brotli', 'the gateway does not compress responses'],
  ['server_tokens', 'the gateway sends no header with its own name'],
  ['proxy_buffering', 'the gateway streams bodies instead of buffering them'],
  ['proxy_request_buffering', 'the gateway streams bodies instead of buffering them'],
  ['proxy_buffers', 'the gateway streams bodies instead of buffering them'],
  ['proxy_buffer_size', 'the gateway streams bodies instead of buffering them'],
  ['proxy_busy_buffers_size', 'the gateway streams bodies instead of buffering them'],
  [
    'client_max_body_size',
    'the gateway streams bodies; frontend.http.maxBufferSize limits the bodies that policies read',
  ],
  ['keepalive_timeout', 'configure frontend.http.http1IdleTimeout'],
  ['keepalive_requests', 'configure frontend.http.maxConnectionDuration'],
  ['proxy_http_version', 'the gateway uses HTTP/1.1 and keeps connections open'],
  ['proxy_redirect', 'the gateway does not change the Location of responses'],
  ['proxy_send_timeout', 'configure http.requestTimeout to limit an attempt'],
  ['proxy_next_upstream', 'configure a retry policy: docs/policies/traffic-retry.md'],
  ['proxy_cache', 'the gateway does not cache HTTP responses'],
  ['proxy_cache_path', 'the gateway does not cache HTTP responses'],
  ['proxy_cache_bypass', 'the gateway does not cache HTTP responses'],
  ['error_page', 'the gateway does not replace error responses of backends'],
  ['resolver', 'configure name resolution in config.dns'],
  ['ssl_protocols', 'configure TLS versions and ciphers in frontend.tls'],
  ['ssl_ciphers', 'configure TLS versions and ciphers in frontend.tls'],
  ['ssl_prefer_server_ciphers', 'configure TLS versions and ciphers in frontend.tls'],
  ['ssl_session_cache', 'the gateway resumes TLS sessions by tickets'],
  ['ssl_session_timeout', 'the gateway resumes TLS sessions by tickets'],
  ['ssl_session_tickets', 'the gateway resumes TLS sessions by tickets'],
  ['ssl_dhparam', 'configure TLS versions and ciphers in frontend.tls'],
  ['http2', 'the gateway has HTTP/2 on for TLS'],
  ['fastcgi', 'the gateway calls backends by HTTP only'],
  ['uwsgi', 'the gateway calls backends by HTTP only'],
  ['scgi', 'the gateway calls backends by HTTP only'],
])
