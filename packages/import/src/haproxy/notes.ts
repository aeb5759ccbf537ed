import type { Section } from './parse.ts'

const PROCESS = 'a setting of the process of HAProxy'
const LOGS = 'docs/logs-and-metrics.md'

/**
 * Sets notes on lines that have no effect on requests. A note stays only if no later step of the import reads the line.
 */
export function noteKnownLines(sections: readonly Section[]): void {
  for (const { head, kind, lines } of sections) {
    if (kind === 'global') head.carried()
    if (!['global', 'defaults', 'frontend', 'backend', 'listen'].includes(kind)) {
      head.hint(SECTION_NOTES[kind] ?? 'the gateway has no such section')
    }
    for (const line of lines) {
      const note = NOTES.get(`${line.name} ${line.args[0] ?? ''}`) ?? NOTES.get(line.name)
      if (kind === 'global') line.hint(note ?? PROCESS)
      else if (note !== undefined) line.hint(note)
      else if (SECTION_NOTES[kind] !== undefined) line.hint('its section is not carried')
    }
  }
}

const SECTION_NOTES: Readonly<Record<string, string>> = {
  ...{ peers: 'stores: docs/stores.md', resolvers: 'config.dns', program: PROCESS, mailers: LOGS, ring: LOGS },
  ...{ 'http-errors': 'errors of backends pass as they are', cache: 'responses are not cached', 'log-profile': LOGS },
  ...{
    'fcgi-app': 'backends speak HTTP',
    'log-forward': LOGS,
    'crt-store': 'tls of listeners: docs/tls.md',
    traces: LOGS,
  },
  ...{ userlist: 'users of proxies that do not ask for them', acme: 'certificates are not issued here: docs/tls.md' },
}

const NOTES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ log: LOGS, 'log-format': LOGS, 'log-tag': LOGS, 'option httplog': LOGS, 'option tcplog': LOGS },
    ...{
      'option dontlognull': LOGS,
      'option dontlog-normal': LOGS,
      'option log-separate-errors': LOGS,
      'option logasap': LOGS,
    },
    'option forwardfor':
      'the gateway sends x-forwarded-for; frontend.forwardedHeaders decides about headers of clients',
    'option http-server-close': 'connections are kept',
    'option httpclose': 'connections are kept',
    'option forceclose': 'connections are kept',
    'option http-keep-alive': 'connections are kept',
    'option redispatch': 'a failed connection is tried at other addresses',
    'option http-buffer-request': 'bodies stream; policies that read bodies have frontend.http.maxBufferSize',
    'option abortonclose': 'calls of clients that left are canceled',
    'option persist': 'sessionPersistence: docs/policies/traffic-session-persistence.md',
    'timeout client': 'frontend.http has the time limits of clients',
    'timeout http-request': 'frontend.http has the time limits of clients',
    'timeout http-keep-alive': 'frontend.http.http1IdleTimeout',
    'timeout check': 'a health policy learns from traffic: docs/backends.md',
    'timeout queue': 'requests do not wait for a server',
    'timeout tunnel': 'upgraded connections have no limit',
    'timeout tarpit': 'requests are denied at once',
    maxconn: 'frontend.tcp.maxConnections: docs/policies/frontend-tcp.md',
    fullconn: 'requests do not wait for a server',
    errorfile: 'errors of backends pass as they are',
    errorfiles: 'errors of backends pass as they are',
    errorloc: 'errors of backends pass as they are',
    compression: 'responses are not compressed',
    stats: 'portico has an admin API and metrics: docs/logs-and-metrics.md',
    'stick-table': 'limits by client are a rateLimit policy: docs/policies/traffic-rate-limit.md',
    stick: 'sessionPersistence: docs/policies/traffic-session-persistence.md',
    'http-reuse': 'connections are kept',
    capture: LOGS,
    'unique-id-format': 'frontend.requestId: docs/policies/frontend-request-id.md',
    'unique-id-header': 'frontend.requestId: docs/policies/frontend-request-id.md',
    filter: 'the gateway has no such filter',
    description: 'a comment',
    id: 'a comment',
  }),
)
