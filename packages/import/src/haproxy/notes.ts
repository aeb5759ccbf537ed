import type { Statement } from '../core/statement.ts'
import type { Section } from './parse.ts'

const PROCESS = 'the line sets up the process of HAProxy'
const LOGS = 'configure logs and metrics in the gateway: docs/logs-and-metrics.md'

/**
 * Sets notes on lines that have no effect on requests. A note stays only if no later step of the import reads the line.
 */
export function noteKnownLines(sections: readonly Section[]): void {
  for (const { head, kind, lines } of sections) {
    if (kind === 'global') head.carried()
    if (!['global', 'defaults', 'frontend', 'backend', 'listen'].includes(kind)) {
      head.hint(SECTION_NOTES[kind] ?? 'the gateway has no counterpart for this section')
    }
    for (const line of lines) {
      const note = noteOf(line)
      if (kind === 'global') line.hint(note ?? PROCESS)
      else if (note !== undefined) line.hint(note)
      else if (SECTION_NOTES[kind] !== undefined) line.hint('the section of this line is not carried')
    }
  }
}

/** Replaces the notes on the lines of a backend by those of a backend that a frontend uses. */
export function noteUsedLines(lines: readonly Statement[]): void {
  for (const line of lines) {
    const note = noteOf(line)
    line.hint(
      note ?? 'the importer does not know this directive in this context',
      note === undefined && isProtection(line.name),
    )
  }
}

/** Whether a line limits access. */
export function isProtection(name: string): boolean {
  return /^(acl|http-request|tcp-request|http-after-response|user|block|reqdeny|reqideny|force-persist)$/.test(name)
}

function noteOf({ name, args }: Statement): string | undefined {
  return NOTES.get(`${name} ${args[0] ?? ''}`) ?? NOTES.get(name)
}

const SECTION_NOTES: Readonly<Record<string, string>> = {
  ...{
    peers: 'configure shared stores: docs/stores.md',
    resolvers: 'configure name resolution in config.dns',
    program: PROCESS,
    mailers: LOGS,
    ring: LOGS,
  },
  ...{
    'http-errors': 'the gateway does not replace error responses of backends',
    cache: 'the gateway does not cache HTTP responses',
    'log-profile': LOGS,
  },
  ...{
    'fcgi-app': 'the gateway calls backends by HTTP only',
    'log-forward': LOGS,
    'crt-store': 'configure certificates in tls of listeners: docs/tls.md',
    traces: LOGS,
  },
  ...{
    userlist: 'no imported proxy uses this userlist',
    acme: 'the gateway obtains no certificates; configure certificate files: docs/tls.md',
  },
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
      "the gateway sends x-forwarded-for; frontend.forwardedHeaders decides whether the client's value is trusted",
    'option http-server-close': 'the gateway keeps connections open',
    'option httpclose': 'the gateway keeps connections open',
    'option forceclose': 'the gateway keeps connections open',
    'option http-keep-alive': 'the gateway keeps connections open',
    'option redispatch': 'the gateway tries other addresses when a connection fails',
    'option http-buffer-request':
      'the gateway streams bodies; frontend.http.maxBufferSize limits the bodies that policies read',
    'option abortonclose': 'the gateway cancels the upstream request when the client disconnects',
    'option persist': 'configure a sessionPersistence policy: docs/policies/traffic-session-persistence.md',
    'timeout client': 'configure the time limits for clients in frontend.http',
    'timeout http-request': 'configure the time limits for clients in frontend.http',
    'timeout http-keep-alive': 'configure frontend.http.http1IdleTimeout',
    'timeout check': 'the gateway sends no health checks; a health policy learns from traffic: docs/backends.md',
    'timeout queue': 'the gateway does not queue requests for a server',
    'timeout tunnel': 'upgraded connections have no time limit',
    'timeout tarpit': 'the gateway denies requests without a delay',
    maxconn: 'configure frontend.tcp.maxConnections: docs/policies/frontend-tcp.md',
    fullconn: 'the gateway does not queue requests for a server',
    errorfile: 'the gateway does not replace error responses of backends',
    errorfiles: 'the gateway does not replace error responses of backends',
    errorloc: 'the gateway does not replace error responses of backends',
    compression: 'the gateway does not compress responses',
    stats: 'the gateway has an admin API and metrics: docs/logs-and-metrics.md',
    'stick-table': 'configure a rateLimit policy for limits by client: docs/policies/traffic-rate-limit.md',
    stick: 'configure a sessionPersistence policy: docs/policies/traffic-session-persistence.md',
    'http-reuse': 'the gateway keeps connections open',
    capture: LOGS,
    'unique-id-format': 'configure frontend.requestId: docs/policies/frontend-request-id.md',
    'unique-id-header': 'configure frontend.requestId: docs/policies/frontend-request-id.md',
    filter: 'the gateway has no counterpart for this filter',
    description: 'the line is a comment',
    id: 'the line is a comment',
  }),
)
