import type { Plugin } from '../scopes.ts'
import { KEEPS, type ReadPlugin, type Surroundings } from './plugin.ts'

/** Notes for plugins that do not restrict access and have no counterpart in the gateway. */
const NOTES: Readonly<Record<string, string>> = {
  prometheus: 'the gateway serves metrics on the admin server: docs/logs-and-metrics.md',
  statsd: 'the gateway serves metrics on the admin server: docs/logs-and-metrics.md',
  'statsd-advanced': 'the gateway serves metrics on the admin server: docs/logs-and-metrics.md',
  datadog: 'the gateway serves metrics on the admin server: docs/logs-and-metrics.md',
  'file-log': 'the gateway writes an access log by default: docs/logs-and-metrics.md',
  'http-log': 'the gateway writes an access log by default: docs/logs-and-metrics.md',
  'tcp-log': 'the gateway writes an access log by default: docs/logs-and-metrics.md',
  'udp-log': 'the gateway writes an access log by default: docs/logs-and-metrics.md',
  'kafka-log': 'the gateway writes an access log by default: docs/logs-and-metrics.md',
  syslog: 'the gateway writes an access log by default: docs/logs-and-metrics.md',
  loggly: 'the gateway writes an access log by default: docs/logs-and-metrics.md',
  zipkin: 'configure tracing in frontend.tracing: docs/tracing.md',
  opentelemetry: 'configure tracing in frontend.tracing: docs/tracing.md',
  'proxy-cache': 'the gateway does not cache HTTP responses',
  'proxy-cache-advanced': 'the gateway does not cache HTTP responses',
  'response-ratelimiting': "the gateway's limits cannot depend on responses: docs/policies/traffic-rate-limit.md",
  session: 'the gateway has no sessions; clients must send their credential with each request',
  'grpc-web': 'the gateway does not translate gRPC-Web',
}

/** Sets the note of a plugin that does not restrict access and has no counterpart; returns null for other plugins. */
export function readNoted({ name, entity }: Plugin): ReadPlugin | null {
  const note = Object.hasOwn(NOTES, name) ? NOTES[name] : undefined
  if (note === undefined) return null
  entity.field.notCarried(note, name === 'response-ratelimiting')
  return KEEPS
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/

export function readCorrelationId(plugin: Plugin, { frontend }: Surroundings): ReadPlugin {
  const { config, entity, service, route, consumers } = plugin
  const [header, echo, generator] = ['header_name', 'echo_downstream', 'generator'].map((name) => config.get(name))
  const name = header?.text ?? 'Kong-Request-ID'
  if (
    service !== null ||
    route !== null ||
    consumers !== null ||
    !NAME.test(name) ||
    frontend['requestId'] !== undefined
  ) {
    entity.field.notCarried(
      'the gateway sets request ids for all routes in frontend.requestId: docs/policies/frontend-request-id.md',
    )
    return KEEPS
  }
  header?.carried()
  echo?.carried()
  generator?.carried('the gateway generates UUIDs')
  entity.field
    .get('name')
    ?.changed('the gateway replaces request ids of clients, unless frontend.forwardedHeaders trusts the client')
  frontend['requestId'] = { header: name.toLowerCase(), ...(echo?.isTrue === true && { inResponses: true }) }
  return KEEPS
}
