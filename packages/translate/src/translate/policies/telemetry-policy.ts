import type { AttachedPolicy, Backend } from '@portico/gateway/ir'
import { frontendPolicies, type Schema } from '@portico/gateway/schema'
import { printFieldProblem } from '../../resources/fields.ts'
import { GATEWAY_GROUP, groupByKind } from '../../resources/kinds.ts'
import type { ObjectReference } from '../../resources/references.ts'
import { keyOf, type Resource } from '../../resources/resource.ts'
import { type Condition, condition, type PolicyStatus } from '../../resources/status.ts'
import { resolveBackend } from '../backends/backend-refs.ts'
import type { Context, Query } from '../context.ts'
import { isOurGateway } from '../listeners/listeners.ts'
import type { Unusable } from '../materials.ts'
import { byAge } from '../precedence.ts'
import { validateConfig } from '../validate-config.ts'
import { policyPlan } from './policy-plan.ts'
import { namedTargets } from './policy-targets.ts'
import { untracedPorts } from './shared-plane-policies.ts'
import { readTelemetryPolicy } from './telemetry-policy-spec.ts'

/** Tracing of a Gateway by an XTelemetryPolicy, with the collector. */
interface GatewayTelemetry {
  policy: AttachedPolicy
  backend: Backend
}

/** The tracing that an XTelemetryPolicy sets for a Gateway, by `namespace/name`; null when none does. */
export const gatewayTelemetry: Query<GatewayTelemetry | null> = {
  name: 'gatewayTelemetry',
  compute(context, gateway) {
    const [holder] = policiesFor(context, gateway)
    if (holder === undefined || tracingPolicyOf(context, gateway) !== null) return null
    const made = tracingOf(context, holder)
    return made === null || 'reason' in made ? null : made
  },
}

/** The policies for a Gateway, the one that holds first. */
function policiesFor(context: Context, gateway: string): Resource[] {
  return context
    .list('XTelemetryPolicy', { by: 'target', value: `Gateway/${gateway}` })
    .filter((policy) => readTelemetryPolicy(policy).targets.some((target) => isGateway(target, gateway)))
    .toSorted(byAge)
}

function isGateway({ group, kind, namespace, name }: ObjectReference, gateway = `${namespace}/${name}`): boolean {
  return group === GATEWAY_GROUP && kind === 'Gateway' && `${namespace}/${name}` === gateway
}

/** The GwPolicy that sets tracing of a Gateway, which wins over every XTelemetryPolicy; null when none does. */
function tracingPolicyOf(context: Context, gateway: string): string | null {
  const namespace = gateway.slice(0, gateway.indexOf('/'))
  const found = context.keys('GwPolicy', { by: 'namespace', value: namespace }).find((place) => {
    const plan = context.read(policyPlan, place)
    if (plan?.frontend?.tracing === undefined) return false
    return plan.targets
      .flatMap((target) => namedTargets(context, plan, target))
      .some(({ kind, key }) => kind === 'Gateway' && key === gateway)
  })
  return found ?? null
}

const tracingSchema: Schema | undefined = frontendPolicies.find(({ name }) => name === 'tracing')?.schema

/** Translates a policy; null when it leaves tracing as it is. */
function tracingOf(context: Context, policy: Resource): GatewayTelemetry | Unusable | null {
  const { tracing, problems } = readTelemetryPolicy(policy)
  const wrong = problems.find(({ code }) => code === 'wrong')
  if (wrong !== undefined) return { reason: 'Invalid', message: printFieldProblem(wrong) }
  if (tracing === null) return null
  const backend = tracing.collector === undefined ? nowhere(policy) : collectorOf(context, policy, tracing.collector)
  if ('reason' in backend) return backend
  if (tracingSchema === undefined) throw new Error('there is no policy tracing')
  // References in resources are resolved already, so the rest is validated with one that every config may have.
  const checked = validateConfig(tracingSchema, { ...tracing.config, backendRef: { host: 'collector:4317' } })
  if ('reason' in checked) return { ...checked, reason: 'Invalid', message: `spec.tracing: ${checked.message}` }
  const config = { ...(checked.value as object), backendRef: { name: backend.key } }
  return { backend, policy: attachedTo(policy, config) }
}

function attachedTo(policy: Resource, tracing: object): AttachedPolicy {
  return {
    key: `telemetry/${keyOf(policy)}`,
    target: { kind: 'gateway' },
    frontend: { tracing } as AttachedPolicy['frontend'],
    traffic: null,
    phase: 'PostRouting',
    backend: null,
  }
}

/** The collector of a policy that disables tracing, which is never called. */
function nowhere(policy: Resource): Backend {
  const key = `backend/telemetry/${keyOf(policy)}`
  return { key, name: 'invalid', target: { kind: 'invalid', reason: 'tracing is disabled' } }
}

function collectorOf(
  context: Context,
  { metadata: { namespace = '' } }: Resource,
  to: Parameters<typeof resolveBackend>[2],
): Backend | Unusable {
  const from = { group: groupByKind.XTelemetryPolicy, kind: 'XTelemetryPolicy', namespace }
  const found = resolveBackend(context, from, to)
  if ('reason' in found) return found
  const { kind } = found.backend.target
  if (kind === 'service' || kind === 'static' || kind === 'unix') return found.backend
  return { reason: 'InvalidKind', message: `${to.kind} ${to.namespace}/${to.name} is not a fixed destination` }
}

/** The limit of entries in a status. */
const MOST_ANCESTORS = 16

/** One status entry for each of our Gateways that the policy targets; null when there is none. */
export const telemetryPolicyStatus: Query<PolicyStatus | null> = {
  name: 'telemetryPolicyStatus',
  compute(context, key) {
    const policy = context.get('XTelemetryPolicy', key)
    if (policy === undefined) return null
    const targets = readTelemetryPolicy(policy).targets.filter((target) => isGateway(target))
    const gateways = [...new Set(targets.map(({ namespace, name }) => `${namespace}/${name}`))]
      .filter((gateway) => context.read(isOurGateway, gateway))
      .toSorted()
    if (gateways.length === 0) return null
    const { controllerName } = context.settings
    return {
      ancestors: gateways.slice(0, MOST_ANCESTORS).map((gateway) => {
        const [namespace = '', name = ''] = gateway.split('/')
        const conditions = conditionsOf(context, policy, gateway)
        return { ancestorRef: { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }, controllerName, conditions }
      }),
    }
  },
}

function conditionsOf(context: Context, policy: Resource, gateway: string): Condition[] {
  const { generation = 0 } = policy.metadata
  const made = tracingOf(context, policy)
  const unusable = made !== null && 'reason' in made ? made : null
  const unresolved = unusable !== null && unusable.reason !== 'Invalid' ? unusable : null
  const refusal = conflictAt(context, policy, gateway) ?? unusable
  const notes = notesOf(context, policy, gateway)
  return [
    refusal === null
      ? condition('Accepted', true, {
          reason: notes.untraced.length === 0 ? 'Accepted' : 'PartiallyValid',
          message: ['Policy accepted', ...notes.ignored, ...notes.untraced].join('; '),
          generation,
        })
      : condition('Accepted', false, {
          reason: refusal === unresolved ? 'Invalid' : refusal.reason,
          message: refusal.message,
          generation,
        }),
    unresolved === null
      ? condition('ResolvedRefs', true, { reason: 'ResolvedRefs', message: 'All references resolved', generation })
      : condition('ResolvedRefs', false, { ...unresolved, generation }),
  ]
}

/** Why another policy sets tracing of the Gateway; null when this one does. */
function conflictAt(context: Context, policy: Resource, gateway: string): Unusable | null {
  const [holder] = policiesFor(context, gateway)
  if (holder !== undefined && keyOf(holder) !== keyOf(policy)) {
    const message = `XTelemetryPolicy ${keyOf(holder)} targets the same Gateway and takes precedence`
    return { reason: 'Conflicted', message }
  }
  const winner = tracingPolicyOf(context, gateway)
  if (winner === null || readTelemetryPolicy(policy).tracing === null) return null
  const message = `GwPolicy ${winner} sets frontend.tracing of the same Gateway and takes precedence`
  return { reason: 'Conflicted', message }
}

/** Parts of the policy that are ignored, and ports of the Gateway on which tracing has no effect. */
function notesOf(context: Context, policy: Resource, gateway: string): { ignored: string[]; untraced: string[] } {
  const { problems, targets, tracing } = readTelemetryPolicy(policy)
  const others = targets.filter((target) => !isGateway(target))
  const ignored = others.map(({ group, kind, name }) => {
    return `${group === '' ? kind : `${kind}.${group}`} ${name} cannot be a target and was ignored`
  })
  const untraced = tracing === null ? null : untracedPorts(context, gateway)
  return { ignored: [...problems.map(printFieldProblem), ...ignored], untraced: untraced === null ? [] : [untraced] }
}
