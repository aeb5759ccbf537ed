/** Directives whose arguments the import report may show. Arguments of other directives may contain secrets. */
const PUBLIC = new Set([
  ...['import', 'handle', 'handle_path', 'route', 'reverse_proxy', 'redir', 'rewrite', 'uri', 'root', 'file_server'],
  ...[
    'php_fastcgi',
    'encode',
    'try_files',
    'method',
    'respond',
    'abort',
    'error',
    'forward_auth',
    'tls',
    'bind',
    'log',
  ],
  ...['to', 'lb_policy', 'lb_retries', 'lb_try_duration', 'transport', 'path', 'host', 'remote_ip', 'client_ip', 'not'],
  ...['path_regexp', 'protocol', 'expression', 'file', 'order', 'http_port', 'https_port', 'auto_https', 'versions'],
  ...['read_timeout', 'dial_timeout', 'response_header_timeout', 'flush_interval', 'max_size', 'request_body'],
  ...[
    'handle_errors',
    'templates',
    'metrics',
    'tracing',
    'push',
    'acme_server',
    'output',
    'format',
    'level',
    'copy_headers',
  ],
])
/**
 * The number of arguments that the import report may show, for directives whose other arguments may contain secrets.
 */
const SHOWN: Readonly<Record<string, number>> = {
  ...{ header: 1, request_header: 1, header_up: 1, header_down: 1, basicauth: 1, basic_auth: 1, vars: 1, map: 1 },
}

export function shownText(name: string, args: readonly string[]): string {
  const isSite = !/^[a-z_]+$/.test(name)
  const isMatcher = name.startsWith('@')
  const count = isMatcher ? 1 : isSite || PUBLIC.has(name) ? args.length : (SHOWN[name] ?? 0)
  const shown = args.slice(0, count)
  // A matcher such as `@admin` or `/x` may come before the header name, so one more argument is shown.
  if (/^(request_)?header$/.test(name) && /^[@/*]/.test(args[0] ?? '')) shown.push(...args.slice(1, 2))
  return [name, ...shown].join(' ')
}
