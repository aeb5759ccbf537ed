import type { Field } from '../core/yaml-field.ts'
import {
  choice,
  type Convert,
  lost,
  mapping,
  type Members,
  missing,
  pairs,
  scalar,
  type Scope,
} from './values/convert.ts'
import { expression } from './values/expressions.ts'
import { oldAccessLog, oldTracing } from './telemetry.ts'
import { whyInvalid, whyInvalidConfig } from './values/validity.ts'

const logging = mapping({
  level: (field, scope) => {
    if (!/^(?:off|error|warn|info|debug|trace)$/.test(field.text ?? ''))
      return lost(field, "Portico's log modules have other names: docs/logs-and-metrics.md")
    return scalar(field, scope)
  },
  format: choice({ text: 'text', json: 'json' }),
})

const SETTINGS: Members = {
  adminAddr: scalar,
  statsAddr: scalar,
  readinessAddr: scalar,
  enableIpv6: scalar,
  connectionMinTerminationDeadline: scalar,
  connectionTerminationDeadline: scalar,
  dns: mapping({ lookupFamily: scalar, edns0: missing('Portico has no such option') }),
  backend: mapping({
    connectTimeout: scalar,
    poolIdleTimeout: scalar,
    poolMaxSize: scalar,
    keepalives: missing('configure tcp.keepalive of backends'),
  }),
  logging,
  workerThreads: [
    'workers',
    (field, scope) =>
      field.number === null ? lost(field, 'expected a number of threads') : (scalar(field, scope), field.number),
  ],
}

const MISSING: Readonly<Record<string, string>> = {
  session: 'Portico creates a session key unless SESSION_KEY is set: docs/mcp.md',
  mcp: 'configure sessionIdleTimeout of MCP backends',
  database: 'Portico keeps its own records of requests: docs/admin-api.md',
  storage: 'Portico stores its config in a file',
  modelCatalog: 'configure a prices policy: docs/policies/backend-prices.md',
  sensitiveHeaders: 'Portico redacts credentials by header name',
  customFunctions: 'Portico has no custom functions in expressions',
  localXdsPath: "Portico's config is in the imported file",
  hbone: 'configure the mesh in Portico: docs/mesh.md',
  histograms: "Portico's histograms have a fixed form",
  standardAttributes: 'Portico has its own record fields: docs/logs-and-metrics.md',
}

/** Reads the process settings in `config`, and the policies for all connections that old files have in this section. */
export function readProcessConfig(
  field: Field | null,
  scope: Scope,
): { config: object; frontend: Readonly<Record<string, unknown>> } {
  const config: Record<string, unknown> = {}
  const frontend: Record<string, unknown> = {}
  for (const [name, member] of field?.members ?? []) {
    if (member.scalar === null) continue
    const known = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined
    if (known !== undefined) {
      const [to, convert] = typeof known === 'function' ? [name, known] : known
      const value = convert(member, scope)
      const why = value === undefined ? null : whyInvalidConfig({ config: { [to]: value } }, scope, 2)
      if (why !== null) lost(member, why)
      else if (value !== undefined && !(typeof value === 'object' && Object.keys(value as object).length === 0))
        config[to] = value
    }
    if (Object.hasOwn(MISSING, name)) member.notCarried(MISSING[name] ?? '')
    if (name === 'tracing') put(frontend, 'tracing', member, oldTracing(member, scope), scope)
    if (name === 'logging') put(frontend, 'accessLog', member, oldAccessLog(member, scope), scope)
    if (name === 'metrics') put(frontend, 'metrics', member, metrics(member, scope), scope)
  }
  return { config, frontend }
}

function put(frontend: Record<string, unknown>, name: string, field: Field, value: unknown, scope: Scope): void {
  if (value === undefined) return
  const why = whyInvalid('frontend', name, value, scope)
  if (why === null) frontend[name] = value
  else lost(field, why)
}

const metrics: Convert = (field, scope) => {
  const found = mapping({
    remove: missing('Portico keeps all metrics'),
    fields: mapping({ add: pairs('name', 'expression', expression('log')) }),
  })(field, scope) as { fields?: { add?: unknown[] } } | undefined
  const add = found?.fields?.add ?? []
  return add.length === 0 ? undefined : { attributes: { add } }
}
