import type { BackendPolicies } from '@portico/gateway/schema'
import { type FieldProblem, Fields, printFieldProblem } from '../../resources/fields.ts'
import { GATEWAY_GROUP, groupByKind, type RouteKind, routeKinds } from '../../resources/kinds.ts'
import { type ObjectReference, printReference, readReference } from '../../resources/references.ts'
import { keyOf, type Resource } from '../../resources/resource.ts'
import { type Condition, condition, type PolicyStatus } from '../../resources/status.ts'
import { ownBackend } from '../backends/backend.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { byAge } from '../precedence.ts'
import { gatewaysServing } from '../routes/delegations.ts'
import { durationAt } from '../durations.ts'
import { readPersistence } from '../session-persistence.ts'
import { validateBackend } from '../validate-config.ts'

interface BackendTrafficPolicySpec {
  targets: ObjectReference[]
  /** Backend policies in the form of the config file. */
  policies: Record<string, unknown>
  problems: FieldProblem[]
}

export function readBackendTrafficPolicy({ metadata, spec: input }: Resource): BackendTrafficPolicySpec {
  const problems: FieldProblem[] = []
  const { namespace = '' } = metadata
  const spec = new Fields(input, ['spec'], problems)
  const targets = spec.objects('targetRefs').flatMap((fields) => {
    const target = readReference(fields, { group: '', kind: 'Service', namespace })
    fields.done()
    return target === undefined ? [] : [{ ...target, namespace }]
  })
  const retryBudget = readRetryConstraint(spec)
  const sessionPersistence = readPersistence(spec)
  spec.done()
  const policies = {
    ...(retryBudget !== undefined && { retryBudget }),
    ...(sessionPersistence !== undefined && { sessionPersistence }),
  }
  return { targets, policies, problems }
}

function readRetryConstraint(spec: Fields): Record<string, unknown> | undefined {
  if (!spec.has('retryConstraint')) return undefined
  const constraint = spec.object('retryConstraint')
  const [budget, rate] = [constraint.object('budget'), constraint.object('minRetryRate')]
  const [percent, interval] = [budget.integer('percent'), durationAt(budget, 'interval')]
  const [count, rateInterval] = [rate.integer('count', { min: 1 }), durationAt(rate, 'interval')]
  for (const fields of [budget, rate, constraint]) fields.done()
  return {
    ...(percent !== undefined && { percent }),
    ...(interval !== undefined && { interval: `${interval}ms` }),
    minRetryRate: {
      ...(count !== undefined && { count }),
      ...(rateInterval !== undefined && { interval: `${rateInterval}ms` }),
    },
  }
}

/** `Kind/namespace/name` of the object that a backend of the config comes from; null when policies cannot target it. */
export function policyTargetOf(key: string): string | null {
  const [first, ...parts] = key.split('/')
  if (first !== 'backend') return null
  const [one = '', two = '', three = '', port = ''] = parts
  if (parts.length === 2) return `GwBackend/${one}/${two}`
  if (parts.length === 3 && one === 'xbackend') return `XBackend/${two}/${three}`
  // Datagrams have neither retries nor sessions.
  return parts.length === 4 && one === 'service' && !port.endsWith(':udp') ? `Service/${two}/${three}` : null
}

/** The policies of the XBackendTrafficPolicy that holds for a target, by `Kind/namespace/name`; null when none does. */
export const backendTraffic: Query<BackendPolicies | null> = {
  name: 'backendTraffic',
  compute(context, target) {
    const [holder] = policiesFor(context, target)
    if (holder === undefined || unfitness(context, target) !== null) return null
    const made = settingsOf(holder)
    return 'reason' in made ? null : made.backend
  },
}

/** The policies for a target, the one that holds first. */
function policiesFor(context: Context, target: string): Resource[] {
  return context
    .list('XBackendTrafficPolicy', { by: 'target', value: target })
    .filter((policy) => readBackendTrafficPolicy(policy).targets.some((each) => isSupported(each, target)))
    .toSorted(byAge)
}

const groupByTarget: Readonly<Record<string, string>> = {
  Service: '',
  GwBackend: groupByKind.GwBackend,
  XBackend: groupByKind.XBackend,
}

function isSupported(reference: ObjectReference, target = idOf(reference)): boolean {
  return groupByTarget[reference.kind] === reference.group && idOf(reference) === target
}

function idOf({ kind, namespace, name }: ObjectReference): string {
  return `${kind}/${namespace}/${name}`
}

function settingsOf(policy: Resource): { backend: BackendPolicies } | Unusable {
  const { policies, problems } = readBackendTrafficPolicy(policy)
  const wrong = problems.find(({ code }) => code === 'wrong')
  return wrong === undefined ? validateBackend(policies) : { reason: 'Invalid', message: printFieldProblem(wrong) }
}

/** Why policies cannot hold for a target; null when they can. */
function unfitness(context: Context, target: string): Unusable | null {
  const [kind = '', namespace = '', name = ''] = target.split('/')
  const key = `${namespace}/${name}`
  if (kind === 'Service' || kind === 'XBackend') {
    return context.get(kind, key) === undefined ? missing(`${kind} ${key} not found`) : null
  }
  if (context.get('GwBackend', key) === undefined) return missing(`GwBackend ${key} not found`)
  const made = context.read(ownBackend, key)
  if ('reason' in made) return { reason: 'Invalid', message: made.message }
  const isFixed = made.backend.target.kind === 'static' || made.backend.target.kind === 'unix'
  if (isFixed) return null
  return { reason: 'Invalid', message: `GwBackend ${key} is not \`static\`` }
}

function missing(message: string): Unusable {
  return { reason: 'TargetNotFound', message }
}

/** One status entry for each of our Gateways that routes to one of the targets; null when there is none. */
export const backendTrafficPolicyStatus: Query<PolicyStatus | null> = {
  name: 'backendTrafficPolicyStatus',
  compute(context, key) {
    const policy = context.get('XBackendTrafficPolicy', key)
    if (policy === undefined) return null
    const { generation = 0 } = policy.metadata
    const routes = readBackendTrafficPolicy(policy).targets.flatMap((target) => routesTo(context, idOf(target)))
    const gateways = [...new Set(routes.map(({ gateway }) => gateway))].toSorted()
    if (gateways.length === 0) return null
    const accepted = acceptance(context, policy)
    const { controllerName } = context.settings
    return {
      ancestors: gateways.slice(0, MOST_ANCESTORS).map((gateway) => {
        const [namespace = '', name = ''] = gateway.split('/')
        const here = routes.filter((route) => route.gateway === gateway)
        return {
          ancestorRef: { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name },
          controllerName,
          conditions: [withConnections(accepted, here, generation)],
        }
      }),
    }
  },
}

/** The limit of entries in a status. */
const MOST_ANCESTORS = 16

interface RouteToTarget {
  gateway: string
  kind: RouteKind
  /** `namespace/name` */
  key: string
}

/** The routes of our Gateways to a target. */
function routesTo(context: Context, target: string): RouteToTarget[] {
  return routeKinds.flatMap((kind) =>
    context
      .keys(kind, { by: 'backend', value: target })
      .flatMap((key) => context.read(gatewaysServing, `${kind}/${key}`).map((gateway) => ({ gateway, kind, key }))),
  )
}

/** Only requests are retried and have sessions: a policy has no effect on connections of other kinds of routes. */
function withConnections(accepted: Condition, routes: readonly RouteToTarget[], generation: number): Condition {
  const others = routes.filter(({ kind }) => kind !== 'HTTPRoute' && kind !== 'GRPCRoute')
  if (accepted.status !== 'True' || others.length === 0) return accepted
  const names = [...new Set(others.map(({ kind, key }) => `${kind} ${key}`))].join(', ')
  const note = `it does not apply to ${names}, because connections without HTTP have neither retries nor sessions`
  return others.length < routes.length
    ? { ...accepted, message: `${accepted.message}; ${note}` }
    : condition('Accepted', false, {
        reason: 'UnsupportedProtocol',
        message: `Policy has no effect: ${note}`,
        generation,
      })
}

function acceptance(context: Context, policy: Resource) {
  const { generation = 0 } = policy.metadata
  const { targets, problems } = readBackendTrafficPolicy(policy)
  const made = settingsOf(policy)
  const refusals = 'reason' in made ? [{ ...made, reason: 'Invalid' as const }] : []
  const lost = 'reason' in made ? [] : targets.flatMap((target) => refusalAt(context, policy, target) ?? [])
  const [first] = [...refusals, ...lost]
  const message = [...refusals, ...lost].map((each) => each.message).join('; ')
  if (first !== undefined) {
    const rest = lost.length > 0 && lost.length < targets.length ? '; it holds for its other targets' : ''
    return condition('Accepted', false, { reason: first.reason, message: `${message}${rest}`, generation })
  }
  const ignored = problems.map(printFieldProblem)
  const text = ['Policy accepted', ...ignored].join('; ')
  return condition('Accepted', true, { reason: 'Accepted', message: text, generation })
}

/** Why a policy does not hold for one of its targets; null when it holds. */
function refusalAt(context: Context, policy: Resource, target: ObjectReference): Unusable | null {
  if (!isSupported(target)) {
    const kind = target.group === '' ? target.kind : `${target.kind}.${target.group}`
    return { reason: 'Invalid', message: `${kind} cannot be a target` }
  }
  const unfit = unfitness(context, idOf(target))
  if (unfit !== null) return unfit
  const [holder] = policiesFor(context, idOf(target))
  if (holder === undefined || keyOf(holder) === keyOf(policy)) return null
  const message = `XBackendTrafficPolicy ${keyOf(holder)} has the same target ${printReference(target)} and takes precedence`
  return { reason: 'Conflicted', message }
}
