import type { Field } from '../../core/yaml-field.ts'
import { worst } from '../backends/ai.ts'
import { type Effects, NO_EFFECTS, readPolicies } from '../policies/effects.ts'
import { LISTENER_POLICIES, routePolicies } from '../policies/tables.ts'
import type { Scope } from '../values/convert.ts'
import type { FindSharedPolicies } from './listeners.ts'
import { inherit } from './routes.ts'

/** A policy with the listener or the route that it targets. */
interface TargetedPolicy {
  readonly effects: Effects
  readonly isEarly: boolean
  /** The targeted listener; null when the policy targets a route. */
  readonly listener: { readonly name: string | null; readonly port: number | null } | null
  /** The targeted route as `namespace/name`; null when the policy targets a listener. */
  readonly route: string | null
}

/** Reads the top-level `policies`. A policy with an unknown target closes all routes. */
export function readTargetedPolicies(list: Field | null, scope: Scope): FindSharedPolicies {
  const items = (list?.items ?? []).map((field) => readTargeted(field, scope))
  const closed: Effects = { policies: {}, status: items.includes(null) ? 403 : null }
  const found = items.flatMap((each) => each ?? [])
  return (port, name) => {
    const fits = ({ listener }: TargetedPolicy): boolean =>
      listener !== null && (listener.name ?? name) === name && (listener.port ?? port) === port
    const own = found.filter(fits)
    return {
      early: joined(own.filter(({ isEarly }) => isEarly)),
      late: joined([...own.filter(({ isEarly }) => !isEarly), { effects: closed }]),
      ofRoute: (key) => joined(found.filter(({ route }) => route === key)),
    }
  }
}

function joined(policies: readonly Pick<TargetedPolicy, 'effects'>[]): Effects {
  return policies.reduce<Effects>(
    (all, { effects }) => ({
      policies: inherit(effects.policies, all.policies),
      status: worst([effects.status, all.status]),
    }),
    NO_EFFECTS,
  )
}

function readTargeted(field: Field, scope: Scope): TargetedPolicy | null {
  const [name, phase, policy] = ['name', 'phase', 'policy'].map((each) => field.get(each))
  const target = targetOf(field.get('target'))
  const isEarly = phase?.text === 'gateway'
  const isKnown = phase?.text == null || isEarly || phase.text === 'route'
  if (target === null || !isKnown || policy?.isMapping !== true || (isEarly && target.listener === null)) {
    field.notCarried(
      'the target or phase of the policy is not known; all requests get 403 until you configure a replacement',
      true,
    )
    return null
  }
  name?.carried()
  phase?.carried()
  field.get('target')?.carried()
  const table = isEarly ? LISTENER_POLICIES : routePolicies(policy.get('retry') !== null)
  const effects = readPolicies(policy, table, scope, 'traffic')
  const limits = effects.policies['rateLimit'] as object | undefined
  if (target.listener === null || limits === undefined || !countsHere(limits)) return { ...target, isEarly, effects }
  policy.notCarried(
    'the routes share a limit in agentgateway, but each route has a separate limit in Portico; requests get 403',
    true,
  )
  return { ...target, isEarly, effects: { policies: {}, status: 403 } }
}

/** Whether a policy contains rate limits that the gateway counts itself. */
function countsHere(limits: object): boolean {
  return 'local' in limits || 'conditional' in limits
}

function targetOf(field: Field | null): Pick<TargetedPolicy, 'listener' | 'route'> | null {
  const [[kind, target] = ['', null], ...others] = field?.members ?? []
  if (target?.isMapping !== true || others.length > 0) return null
  const known = { gateway: ['gatewayName', 'gatewayNamespace', 'listenerName', 'port'], route: ['name', 'namespace'] }
  if (kind !== 'gateway' && kind !== 'route') return null
  if (target.members.some(([name, { text }]) => !known[kind].includes(name) || text === null)) return null
  const textOf = (name: string): string | null => target.get(name)?.text ?? null
  if (kind === 'route') {
    const name = textOf('name')
    return name === null ? null : { listener: null, route: `${textOf('namespace') ?? 'default'}/${name}` }
  }
  // agentgateway without a control plane has one gateway, named `default`.
  if ((textOf('gatewayName') ?? 'default') !== 'default') return null
  return { listener: { name: textOf('listenerName'), port: target.get('port')?.number ?? null }, route: null }
}
