import type { Backend } from '@portico/gateway/ir'
import type { BackendPolicies, FrontendPolicies, Policy, Problem, TrafficPolicies } from '@portico/gateway/schema'
import { gwPolicySpec, isTargetKind, type TargetKind } from '../../resources/gw-policy.ts'
import { readSpec } from '../../resources/own-kinds.ts'
import type { Resource } from '../../resources/resource.ts'
import { printProblems } from '../backends/backend.ts'
import type { Context, Query } from '../context.ts'
import { fieldsForKinds } from './connection-policies.ts'
import { policySections, PolicyFields } from './policy-fields.ts'
import { policyForce } from '../policy-force.ts'
import { ageOf } from '../precedence.ts'

/** The translation of a GwPolicy, independent of its targets. */
export interface PolicyPlan {
  namespace: string
  age: string
  targets: PolicyTargetSpec[]
  phase: 'PreRouting' | 'PostRouting'
  frontend: FrontendPolicies | null
  traffic: TrafficPolicies | null
  backend: BackendPolicies | null
  /**
   * Invalid backends, which fail every call. They replace references that cannot be resolved, and closed forms use
   * them.
   */
  invalid: Backend[]
  problems: string[]
}

/** A targetRef has a name, a targetSelector has labels. */
export interface PolicyTargetSpec {
  group: string
  kind: TargetKind
  name?: string
  matchLabels?: Record<string, string>
  sectionName?: string
}

/** The plan of a GwPolicy, by `namespace/name`. */
export const policyPlan: Query<PolicyPlan | null> = {
  name: 'policyPlan',
  compute(context, place) {
    const force = context.read(policyForce, place)
    if (force === null) return null
    const { written, inForce } = force
    return planOf(context, inForce ?? written, inForce === null)
  },
}

/** The plan of a GwPolicy with its newest spec, which may not be in force, by `namespace/name`. */
export const newestPlan: Query<PolicyPlan | null> = {
  name: 'newestPlan',
  compute(context, place) {
    const resource = context.get('GwPolicy', place)
    return resource === undefined ? null : planOf(context, resource, false)
  },
}

/** With `isClosed`, every field is replaced by its closed form. */
function planOf(context: Context, resource: Resource, isClosed: boolean): PolicyPlan {
  const read = readSpec(gwPolicySpec, resource)
  const spec = resource.spec as Record<string, unknown> | undefined
  const general = read.ok ? [] : read.problems.filter((problem) => !isOfField(problem))
  const maker = new PolicyFields(context, 'GwPolicy', resource)
  const isUsable = general.length === 0
  const sectionOf = (section: Policy['section']): object | null =>
    isClosed ? maker.closedSection(section, spec?.[section]) : maker.section(section, spec?.[section])
  const made = (['frontend', 'traffic', 'backend'] as const).map((section) => (isUsable ? sectionOf(section) : null))
  const [frontend, traffic, backend] = made as [FrontendPolicies | null, TrafficPolicies | null, BackendPolicies | null]
  const targets = targetsIn(spec)
  const kept = fieldsForKinds(context, [...new Set(targets.map(({ kind }) => kind))], { traffic, backend })
  const isUnlimited = kept.traffic?.timeouts !== undefined && targets.some(({ kind }) => kind === 'GRPCRoute')
  return {
    namespace: resource.metadata.namespace ?? '',
    age: ageOf(resource),
    targets,
    phase: phaseIn(spec),
    frontend,
    traffic: isUnlimited ? withoutTimeouts(kept.traffic) : kept.traffic,
    backend: kept.backend,
    invalid: maker.invalid,
    problems: [
      ...(isUsable ? [] : [printProblems(general)]),
      ...(isClosed ? [NOT_VERIFIED] : []),
      ...maker.problems,
      ...kept.problems,
      ...(isUnlimited ? [ONLY_HTTP] : []),
    ],
  }
}

const NOT_VERIFIED =
  'spec.verify: the tests have not passed yet, so fields that guard access are closed and others do not apply'

const ONLY_HTTP = 'spec.traffic.timeouts: applies to HTTPRoutes only, not to a GRPCRoute'

function withoutTimeouts(traffic: TrafficPolicies | null): TrafficPolicies {
  const { timeouts: _unused, ...rest } = traffic ?? {}
  return rest
}

/** Whether the problem affects one field only. */
function isOfField({ path: [, section, field] }: Problem): boolean {
  return typeof section === 'string' && section in policySections && typeof field === 'string' && field !== 'phase'
}

function targetsIn(spec: Record<string, unknown> | undefined): PolicyTargetSpec[] {
  const lists = [spec?.['targetRefs'], spec?.['targetSelectors']].filter((each) => Array.isArray(each))
  const targets = (lists.flat() as unknown[]).filter(isTarget)
  // Duplicate targets are dropped.
  return [...new Map(targets.map((target) => [JSON.stringify(target), target])).values()]
}

/** Invalid targets were reported with the spec. */
function isTarget(target: unknown): target is PolicyTargetSpec {
  if (typeof target !== 'object' || target === null) return false
  const { kind, name, matchLabels } = target as Record<string, unknown>
  const isNamed = typeof name === 'string' || (typeof matchLabels === 'object' && matchLabels !== null)
  return typeof kind === 'string' && isTargetKind(kind) && isNamed
}

function phaseIn(spec: Record<string, unknown> | undefined): PolicyPlan['phase'] {
  const traffic = spec?.['traffic'] as { phase?: unknown } | undefined
  return traffic?.phase === 'PreRouting' ? 'PreRouting' : 'PostRouting'
}
