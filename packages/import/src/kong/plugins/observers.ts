import type { Plugin } from '../scopes.ts'
import { KEEPS, type ReadPlugin, type Surroundings } from './plugin.ts'

/** Notes for plugins that do not restrict access and have no counterpart in the gateway. */
const NOTES: Readonly<Record<string, string>> = {
  prometheus: 'metrics are on the admin server: docs/logs-and-metrics.md',
  statsd: 'metrics are on the admin server: docs/logs-and-metrics.md',
  'statsd-advanced': 'metrics are on the admin server: docs/logs-and-metrics.md',
  datadog: 'metrics are on the admin server: docs/logs-and-metrics.md',
  'file-log': 'the access log is on by default: docs/logs-and-metrics.md',
  'http-log': 'the access log is on by default: docs/logs-and-metrics.md',
  'tcp-log': 'the access log is on by default: docs/logs-and-metrics.md',
  'udp-log': 'the access log is on by default: docs/logs-and-metrics.md',
  'kafka-log': 'the access log is on by default: docs/logs-and-metrics.md',
  syslog: 'the access log is on by default: docs/logs-and-metrics.md',
  loggly: 'the access log is on by default: docs/logs-and-metrics.md',
  zipkin: 'write frontend.tracing: docs/tracing.md',
  opentelemetry: 'write frontend.tracing: docs/tracing.md',
  'proxy-cache': 'responses are not cached',
  'proxy-cache-advanced': 'responses are not cached',
  'response-ratelimiting': 'limits do not depend on responses: docs/policies/traffic-rate-limit.md',
  session: 'clients send their credential with each request',
  'grpc-web': 'gRPC-Web passes as it is',
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
    entity.field.notCarried('frontend.requestId is for all routes: docs/policies/frontend-request-id.md')
    return KEEPS
  }
  header?.carried()
  echo?.carried()
  generator?.carried('ids are UUIDs')
  entity.field.get('name')?.changed('ids of clients are replaced, unless frontend.forwardedHeaders trusts the client')
  frontend['requestId'] = { header: name.toLowerCase(), ...(echo?.isTrue === true && { inResponses: true }) }
  return KEEPS
}
