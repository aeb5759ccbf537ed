import type { AttachedPolicy, Ir } from '../../ir/resources.ts'
import type { FrontendPolicies } from '../../policies/index.ts'
import type { CollectorConfig } from '../../schema/fields/collector.ts'
import { urlBackend } from '../../ir/backend-targets.ts'
import { OtelVariables, type Signal, type StandardCollector } from './otel-variables.ts'
import type { LocatedProblem } from '../located-problem.ts'
import type { Environment } from '../substitute.ts'
import { attachment } from '../translate.ts'

/** The field of a gateway policy that has the collector of a signal. */
interface CollectorField {
  signal: Signal
  policy: keyof FrontendPolicies
  exports: (policies: FrontendPolicies) => boolean
  put: (policies: FrontendPolicies, config: CollectorConfig, collector: StandardCollector) => FrontendPolicies
  drop: (policies: FrontendPolicies) => FrontendPolicies
}

const COLLECTOR_FIELDS: readonly CollectorField[] = [
  {
    signal: 'logs',
    policy: 'accessLog',
    exports: ({ accessLog }) => accessLog?.otlp !== undefined,
    put: (policies, otlp) => ({ ...policies, accessLog: { ...policies.accessLog, otlp } }),
    drop({ accessLog: { otlp: _otlp, ...accessLog } = {}, ...rest }) {
      return { ...rest, accessLog }
    },
  },
  {
    signal: 'traces',
    policy: 'tracing',
    exports: ({ tracing }) => tracing !== undefined,
    put: (policies, config, { sampling }) => ({ ...policies, tracing: { ...config, ...sampling } }),
    drop: ({ tracing: _tracing, ...rest }) => rest,
  },
  {
    signal: 'metrics',
    policy: 'metrics',
    exports: ({ metrics }) => metrics?.otlp !== undefined,
    put(policies, config, { intervalMs = DEFAULT_INTERVAL }) {
      const otlp = { ...config, interval: intervalMs }
      return { ...policies, metrics: { ...policies.metrics, otlp } }
    },
    drop({ metrics: { otlp: _otlp, ...metrics } = {}, ...rest }) {
      return { ...rest, metrics }
    },
  },
]

/**
 * Adds the collectors that the standard variables of OpenTelemetry name, for signals without a collector in the config.
 * The variables can also turn off all exports.
 */
export function withStandardExports(ir: Ir, env: Environment): { ir: Ir; problems: LocatedProblem[] } {
  const variables = new OtelVariables(env)
  if (variables.isDisabled()) return { ir: withoutExports(ir), problems: variables.problems }
  let found = ir
  for (const field of COLLECTOR_FIELDS) {
    if (isExported(ir, field)) continue
    const collector = variables.collector(field.signal)
    if (collector !== null) found = withCollector(found, field, collector)
  }
  if (COLLECTOR_FIELDS.some((field) => isExported(found, field))) variables.checkResource()
  return { ir: found, problems: variables.problems }
}

/** The last gateway policy with this field wins. */
function policyFor(ir: Ir, { policy }: CollectorField): AttachedPolicy | undefined {
  return ir.policies.findLast(({ target, frontend }) => target.kind === 'gateway' && frontend?.[policy] !== undefined)
}

function isExported(ir: Ir, field: CollectorField): boolean {
  const frontend = policyFor(ir, field)?.frontend ?? null
  return frontend !== null && field.exports(frontend)
}

function withCollector(ir: Ir, field: CollectorField, collector: StandardCollector): Ir {
  const { url, protocol, path, headers, timeoutMs } = collector
  const { backend, policies } = urlBackend(url)
  const config: CollectorConfig = {
    backendRef: { name: backend.key },
    protocol,
    ...(protocol === 'HTTP' && { path }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(headers.length > 0 && { headers }),
  }
  const holder = policyFor(ir, field)
  const changed = (policy: AttachedPolicy): AttachedPolicy =>
    policy === holder ? { ...policy, frontend: field.put(policy.frontend ?? {}, config, collector) } : policy
  const target = { kind: 'gateway' as const }
  const own = {
    ...attachment({ target, frontend: field.put({}, config, collector) }),
    key: `environment/${field.signal}`,
  }
  const isKnown = ir.backends.some(({ key }) => key === backend.key)
  const ofBackend = attachment({ target: { kind: 'backend', key: backend.key }, backend: policies ?? null })
  return {
    ...ir,
    backends: isKnown ? ir.backends : [...ir.backends, backend],
    policies: [
      ...(holder === undefined ? [own] : []),
      ...ir.policies.map(changed),
      ...(isKnown || policies === undefined ? [] : [ofBackend]),
    ],
  }
}

function withoutExports(ir: Ir): Ir {
  const without = (policy: AttachedPolicy): AttachedPolicy => {
    const { frontend } = policy
    if (frontend === null) return policy
    const meant = COLLECTOR_FIELDS.filter(({ exports }) => exports(frontend))
    if (meant.length === 0) return policy
    return { ...policy, frontend: meant.reduce((left, { drop }) => drop(left), frontend) }
  }
  return { ...ir, policies: ir.policies.map(without) }
}

/** The default of the schema. */
const DEFAULT_INTERVAL = 60_000
