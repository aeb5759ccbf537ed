import type { AttachedPolicy, Ir } from '../ir/resources.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** Returns the parts of a config that apply to a recorded request; null for a record without a listener. */
export function sliceOf(ir: Ir, { keys }: Pick<RequestRecord, 'keys'>): Ir | null {
  const listener = ir.listeners.find(({ key }) => key === keys.listener)
  if (listener === undefined) return null
  const routes = routesOf(ir, keys.route)
  const kept = new Set([listener.key, listener.bind, ...routes.map(({ key }) => key)])
  if (listener.set !== undefined) kept.add(listener.set)
  const policies = new Set(ir.policies.filter((policy) => isKept(policy, kept)))
  // Policies and backends name further backends, which have policies of their own, so the loop runs until nothing is added.
  for (let size = -1; size !== kept.size + policies.size;) {
    size = kept.size + policies.size
    const text = JSON.stringify([routes, [...policies], ir.backends.filter(({ key }) => kept.has(key))])
    for (const { key } of ir.backends) if (text.includes(JSON.stringify(key))) kept.add(key)
    for (const policy of ir.policies) if (isKept(policy, kept)) policies.add(policy)
  }
  return {
    binds: ir.binds.filter(({ key }) => key === listener.bind),
    listeners: [listener],
    routes,
    backends: ir.backends.filter(({ key }) => kept.has(key)),
    policies: ir.policies.filter((policy) => policies.has(policy)).flatMap((policy) => withoutTelemetry(policy) ?? []),
  }
}

/** Returns the route and the routes that delegate to it, in the order of the config. */
function routesOf(ir: Ir, route: string | null): Ir['routes'] {
  const keys = new Set<string>()
  for (let key = route ?? undefined; key !== undefined && !keys.has(key);) {
    keys.add(key)
    key = ir.routes.find((each) => each.key === key)?.within
  }
  return ir.routes.filter(({ key }) => keys.has(key))
}

function isKept({ target }: AttachedPolicy, kept: ReadonlySet<string>): boolean {
  if (target.kind === 'gateway') return true
  const { key } = target
  if (kept.has(key)) return true
  // The keys of route entries and backend sections begin with the key of their route or backend; the key of a rule
  // begins with the key of its route.
  return [...kept].some(
    (each) => each.startsWith(`${key}/`) || key.startsWith(`${each}/backend/`) || key.startsWith(`${each}/section/`),
  )
}

/**
 * Removes logs, traces and metrics from a policy, which decide nothing and whose exporters have credentials; null when
 * nothing is left.
 */
function withoutTelemetry(policy: AttachedPolicy): AttachedPolicy | null {
  if (policy.frontend === null) return policy
  const { accessLog: _log, tracing: _tracing, metrics: _metrics, recorder: _recorder, ...frontend } = policy.frontend
  const isEmpty = Object.keys(frontend).length === 0
  if (isEmpty && policy.traffic === null && policy.backend === null) return null
  return { ...policy, frontend: isEmpty ? null : frontend }
}
