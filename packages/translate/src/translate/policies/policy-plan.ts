import type { Backend } from '@portico/gateway/ir'
import type { BackendPolicies, FrontendPolicies, Problem, TrafficPolicies } from '@portico/gateway/schema'
import { gwPolicySpec, isTargetKind, type TargetKind } from '../../resources/gw-policy.ts'
import { readSpec } from '../../resources/own-kinds.ts'
import { printProblems } from '../backends/backend.ts'
import type { Query } from '../context.ts'
import { fieldsForKinds } from './connection-policies.ts'
import { policySections, PolicyFields } from './policy-fields.ts'
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
    const resource = context.get('GwPolicy', place)
    if (resource === undefined) return null
    const read = readSpec(gwPolicySpec, resource)
    const spec = resource.spec as Record<string, unknown> | undefined
    const general = read.ok ? [] : read.problems.filter((problem) => !isOfField(problem))
    const maker = new PolicyFields(context, 'GwPolicy', resource)
    const isUsable = general.length === 0
    const made = (['frontend', 'traffic', 'backend'] as const).map((section) =>
      isUsable ? maker.section(section, spec?.[section]) : null,
    )
    const [frontend, traffic, backend] = made as [
      FrontendPolicies | null,
      TrafficPolicies | null,
      BackendPolicies | null,
    ]
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
        ...maker.problems,
        ...kept.problems,
        ...(isUnlimited ? [ONLY_HTTP] : []),
      ],
    }
  },
}

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
