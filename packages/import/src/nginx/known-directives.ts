import type { Directive } from './directive.ts'

/** Says of directives without an effect on requests why they are not carried; those that are read later replace the notes. */
export function noteKnownDirectives(list: readonly Directive[]): void {
  for (const directive of list) {
    const note = NOTES.get(directive.name) ?? NOTES.get(directive.name.split('_')[0] ?? '')
    if (note !== undefined) directive.notCarried(note)
    if (directive.name === 'stream' || directive.name === 'mail') {
      directive.notCarried('write TCP, TLS or UDP listeners: docs/tls.md, docs/udp.md')
    }
    noteKnownDirectives(directive.block ?? [])
  }
}

const PROCESS = 'a setting of the process of nginx'
const LOGS = 'docs/logs-and-metrics.md'
const FILES = 'files are not served'
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
  ['default_type', 'types of responses are those of the backend'],
  ['gzip', 'responses are not compressed'],
  ['brotli', 'responses are not compressed'],
  ['server_tokens', 'the gateway names itself in no header'],
  ['proxy_buffering', 'bodies stream'],
  ['proxy_request_buffering', 'bodies stream'],
  ['proxy_buffers', 'bodies stream'],
  ['proxy_buffer_size', 'bodies stream'],
  ['proxy_busy_buffers_size', 'bodies stream'],
  ['client_max_body_size', 'bodies stream; policies that read bodies have frontend.http.maxBufferSize'],
  ['keepalive_timeout', 'frontend.http.http1IdleTimeout'],
  ['keepalive_requests', 'frontend.http.maxConnectionDuration'],
  ['proxy_http_version', 'HTTP/1.1 with kept connections'],
  ['proxy_redirect', 'Location of responses passes as it is'],
  ['proxy_send_timeout', 'http.requestTimeout limits an attempt'],
  ['proxy_next_upstream', 'retry: docs/policies/traffic-retry.md'],
  ['proxy_cache', 'responses are not cached'],
  ['proxy_cache_path', 'responses are not cached'],
  ['proxy_cache_bypass', 'responses are not cached'],
  ['error_page', 'errors pass as they are, and have no pages'],
  ['resolver', 'config.dns'],
  ['ssl_protocols', 'frontend.tls'],
  ['ssl_ciphers', 'frontend.tls'],
  ['ssl_prefer_server_ciphers', 'frontend.tls'],
  ['ssl_session_cache', 'sessions are resumed by tickets'],
  ['ssl_session_timeout', 'sessions are resumed by tickets'],
  ['ssl_session_tickets', 'sessions are resumed by tickets'],
  ['ssl_dhparam', 'frontend.tls'],
  ['http2', 'HTTP/2 is on with TLS'],
  ['fastcgi', 'backends speak HTTP'],
  ['uwsgi', 'backends speak HTTP'],
  ['scgi', 'backends speak HTTP'],
])
