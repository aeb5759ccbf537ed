import type { PolicyTarget } from '@portico/gateway/ir'
import type { Resource } from '../../resources/resource.ts'
import { attachmentsOf } from '../attachment/attachment.ts'
import { ownBackend } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import { withoutConflicts } from '../routes/kind-conflicts.ts'
import { listenerSetsOf } from '../listeners/listener-sets.ts'
import { listenersOf, type ResolvedListener } from '../listeners/listeners.ts'
import type { PolicyPlan, PolicyTargetSpec } from './policy-plan.ts'
import { ownKey } from '../backends/referred-objects.ts'
import { routePlan } from '../routes/route-plan.ts'
import { ruleKey, servedRules } from '../routes/route-resources.ts'
import { routeName } from '../routes/rule-resources.ts'
import { delegatedRules } from '../routes/delegations.ts'
import { PICKER_SUFFIX, poolKey } from '../backends/inference-pool.ts'
import { serviceKey } from '../backends/service.ts'

/** One target of a policy. */
export interface NamedTarget {
  group: string
  kind: PolicyTargetSpec['kind']
  /** The key as `namespace/name`. */
  key: string
  sectionName: string | undefined
}

/** Resolves selectors to objects. Policies and their targets share a namespace. */
export function namedTargets(
  context: Pick<Context, 'list'>,
  { namespace }: Pick<PolicyPlan, 'namespace'>,
  { group, kind, name, matchLabels = {}, sectionName }: PolicyTargetSpec,
): NamedTarget[] {
  if (name !== undefined) return [{ group, kind, key: `${namespace}/${name}`, sectionName }]
  const hasLabels = ({ metadata: { labels } }: Resource): boolean =>
    Object.entries(matchLabels).every(([label, value]) => labels?.[label] === value)
  return context
    .list(kind, { by: 'namespace', value: namespace })
    .filter(hasLabels)
    .map((resource) => ({ group, kind, key: `${namespace}/${resource.metadata.name}`, sectionName }))
}

/** Returns the attachment points of a target in the config of a Gateway with these backends. */
export function attachmentPointsOf(
  context: Context,
  gateway: string,
  { kind, key, sectionName }: NamedTarget,
  backends: ReadonlySet<string>,
): PolicyTarget[] {
  switch (kind) {
    case 'Gateway':
      if (key !== gateway) return []
      return sectionName === undefined
        ? whenServed(context, gateway, () => true, { kind: 'gateway' })
        : listenersNamed(context, gateway, kind, key, sectionName)
    case 'ListenerSet':
      if (!hasListenerSet(context, gateway, key)) return []
      return sectionName === undefined
        ? whenServed(context, gateway, ({ parent }) => parent.kind === kind && parent.key === key, {
            kind: 'listenerSet',
            key: `listenerSet/${key}`,
          })
        : listenersNamed(context, gateway, kind, key, sectionName)
    case 'HTTPRoute':
    case 'GRPCRoute':
    case 'TLSRoute':
    case 'TCPRoute':
    case 'UDPRoute':
      return routePlaces(context, gateway, `${kind}/${key}`, sectionName)
    case 'Service': {
      const prefix = serviceKey(`${key}/`)
      const port = `${prefix}${sectionName}`
      return [...backends]
        .filter((each) =>
          sectionName === undefined
            ? each.startsWith(prefix)
            : [port, `${port}:udp`, `${port}${PICKER_SUFFIX}`].includes(each),
        )
        .map((each) => ({ kind: 'backend', key: each }))
    }
    case 'InferencePool': {
      const pool = poolKey(key)
      return sectionName === undefined && backends.has(pool) ? [{ kind: 'backend', key: pool }] : []
    }
    case 'GwBackend': {
      const own = ownKey(key)
      if (!backends.has(own)) return []
      if (sectionName === undefined) return [{ kind: 'backend', key: own }]
      return sectionsNamed(context, key, sectionName).map((section) => ({ kind: 'backend', key: section }))
    }
  }
}

/** Whether a Gateway accepts this ListenerSet. */
export function hasListenerSet(context: Context, gateway: string, key: string): boolean {
  return context.read(listenerSetsOf, gateway).some((set) => set.kind === 'ListenerSet' && set.key === key)
}

/** Providers or MCP targets of a GwBackend; `backend` is a provider without a name. */
function sectionsNamed(context: Context, place: string, name: string): string[] {
  const made = context.read(ownBackend, place)
  const target = 'reason' in made ? null : made.backend.target
  if (target?.kind === 'mcp') return target.targets.filter((each) => each.name === name).map(({ key }) => key)
  if (target?.kind !== 'ai') return []
  const providers = target.groups.flat()
  const [only, ...others] = providers
  if (name === 'backend' && only !== undefined && others.length === 0) return [only.key]
  return providers.filter((each) => each.name === name).map(({ key }) => key)
}

/** A policy for all listeners of an object attaches when at least one of them can be used. */
function whenServed(
  context: Context,
  gateway: string,
  isOwn: (listener: ResolvedListener) => boolean,
  target: PolicyTarget,
): PolicyTarget[] {
  const isUsed = context.read(listenersOf, gateway).some((each) => each.state !== 'absent' && isOwn(each))
  return isUsed ? [target] : []
}

function listenersNamed(context: Context, gateway: string, kind: string, key: string, name: string): PolicyTarget[] {
  return context
    .read(listenersOf, gateway)
    .filter((each) => each.parent.kind === kind && each.parent.key === key && each.name === name)
    .filter(({ state }) => state !== 'absent')
    .map((listener) => ({ kind: 'listener', key: listener.key }))
}

function routePlaces(context: Context, gateway: string, id: string, rule: string | undefined): PolicyTarget[] {
  const plan = context.read(routePlan, id)
  if (plan === null) return []
  const name = routeName(plan)
  const keys = context
    .read(attachmentsOf, id)
    .filter((each) => each.gateway === gateway)
    .flatMap((each) => withoutConflicts(context, id, each).map(({ key }) => key))
  const delegated = context.read(delegatedRules, `${gateway} ${id}`)
  if (rule === undefined) {
    const listeners = new Set([...keys, ...delegated.map(({ listener }) => listener)])
    return [...listeners].map((listener) => ({ kind: 'route', key: `${listener}/${name}` }))
  }
  const indexes = [...servedRules(plan).entries()].filter((entry) => entry[1].name === rule).map(([index]) => index)
  const own = [...new Set(keys)].flatMap((listener) => indexes.map((index) => ruleKey(listener, name, index)))
  const below = delegated.filter(({ index }) => indexes.includes(index)).map(({ key }) => key)
  return [...own, ...below].map((key) => ({ kind: 'rule', key }))
}
