import type { Backend } from '@portico/gateway/ir'
import {
  backendPolicies,
  frontendPolicies,
  inResource,
  isIssuer,
  Refusal,
  settle,
  trafficPolicies,
  validate,
} from '@portico/gateway/schema'
import type {
  BackendPolicies,
  FrontendPolicies,
  Policy,
  Problem,
  ReferredObjects,
  TrafficPolicies,
} from '@portico/gateway/schema'
import { gwPolicySpec, isTargetKind, type TargetKind } from '../resources/gw-policy.ts'
import { readSpec } from '../resources/own-kinds.ts'
import type { Resource } from '../resources/resource.ts'
import { closedForm, withoutBadRules } from './closed-forms.ts'
import type { Context, Query } from './context.ts'
import { ageOf } from './precedence.ts'
import { printProblems } from './backend.ts'
import { referredObjects } from './referred-objects.ts'

/** A GwPolicy, whatever it holds for. */
export interface PolicyPlan {
  namespace: string
  age: string
  targets: PolicyTargetSpec[]
  phase: 'PreRouting' | 'PostRouting'
  frontend: FrontendPolicies | null
  traffic: TrafficPolicies | null
  backend: BackendPolicies | null
  /** Stand for what its references do not lead to. */
  invalid: Backend[]
  problems: string[]
}

/** A targetRef has a name, a selector has labels. */
export interface PolicyTargetSpec {
  group: string
  kind: TargetKind
  name?: string
  matchLabels?: Record<string, string>
  sectionName?: string
}

const sections = { frontend: frontendPolicies, traffic: trafficPolicies, backend: backendPolicies } as const
type Section = keyof typeof sections

/** By `namespace/name`. */
export const policyPlan: Query<PolicyPlan | null> = {
  name: 'policyPlan',
  compute(context, place) {
    const resource = context.get('GwPolicy', place)
    if (resource === undefined) return null
    const read = readSpec(gwPolicySpec, resource)
    const spec = resource.spec as Record<string, unknown> | undefined
    const general = read.ok ? [] : read.problems.filter((problem) => !isOfField(problem))
    const maker = new PolicyMaker(context, resource)
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
    return {
      namespace: resource.metadata.namespace ?? '',
      age: ageOf(resource),
      targets,
      phase: phaseIn(spec),
      frontend,
      traffic: maker.withoutLimitsOf(targets, traffic),
      backend,
      invalid: maker.invalid,
      problems: [...(isUsable ? [] : [printProblems(general)]), ...maker.problems],
    }
  },
}

/** Problems of one field harm that field. */
function isOfField({ path: [, section, field] }: Problem): boolean {
  return typeof section === 'string' && section in sections && typeof field === 'string' && field !== 'phase'
}

function targetsIn(spec: Record<string, unknown> | undefined): PolicyTargetSpec[] {
  const lists = [spec?.['targetRefs'], spec?.['targetSelectors']].filter((each) => Array.isArray(each))
  const targets = (lists.flat() as unknown[]).filter(isTarget)
  // Of twins one is enough.
  return [...new Map(targets.map((target) => [JSON.stringify(target), target])).values()]
}

/** Those that cannot be read were told of with the spec. */
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

interface FieldPlace {
  at: string[]
  made: Record<string, unknown>
  closed: Record<string, unknown>
}

class PolicyMaker {
  readonly problems: string[] = []
  readonly invalid: Backend[] = []
  readonly #place: string
  readonly #objects: ReferredObjects

  constructor(context: Context, { metadata: { name, namespace = '' } }: Resource) {
    this.#place = `${namespace}/${name}`
    const objects = referredObjects(context, { kind: 'GwPolicy', namespace })
    this.#objects = { ...objects, backend: (reference) => this.#backend(objects.backend(reference)) }
  }

  /** What could be made of a section; null where nothing was written. */
  section(section: Section, written: unknown): object | null {
    if (typeof written !== 'object' || written === null) return null
    const made: Record<string, unknown> = {}
    const closed: Record<string, unknown> = {}
    const policies = (sections[section] as readonly Policy[]).filter(({ fileOnly }) => fileOnly !== true)
    for (const [name, raw] of Object.entries(written)) {
      const policy = policies.find((each) => each.name === name)
      if (policy !== undefined) this.#field(policy, raw, { at: ['spec', section, name], made, closed })
      else if (name !== 'phase') this.problems.push(`spec.${section}.${name}: is not known and was ignored`)
    }
    // What refuses wins, wherever it was written.
    return { ...made, ...closed }
  }

  /** Time limits are for HTTPRoutes alone. */
  withoutLimitsOf(targets: readonly PolicyTargetSpec[], traffic: TrafficPolicies | null): TrafficPolicies | null {
    if (traffic?.timeouts === undefined || targets.every(({ kind }) => kind !== 'GRPCRoute')) return traffic
    this.problems.push('spec.traffic.timeouts: holds for HTTPRoutes only, not for a GRPCRoute')
    const { timeouts: _unused, ...rest } = traffic
    return rest
  }

  /** The field as it is, or in a form that lets nothing pass that it was there to stop. */
  #field(policy: Policy, raw: unknown, { at, made, closed }: FieldPlace): void {
    const read = validate(inResource(policy.schema), raw)
    if (!read.ok) {
      this.problems.push(printProblems(read.problems.map((each) => ({ ...each, path: [...at, ...each.path] }))))
      const mended = withoutBadRules(policy.name, raw, read.problems)
      const again = mended === null ? null : validate(inResource(policy.schema), mended)
      if (again?.ok === true) made[policy.name] = settle(policy.schema, again.value, this.#objects, at).value
      else Object.assign(closed, this.#closed(policy))
      return
    }
    const before = this.problems.length
    const { value, problems } = settle(policy.schema, read.value, this.#objects, at)
    const fault = problems.length > 0 ? printProblems(problems) : faultIn(policy, value)
    if (fault !== null) {
      this.problems.push(fault)
      Object.assign(closed, this.#closed(policy))
      return
    }
    // The place of a reference is known only here.
    for (let index = before; index < this.problems.length; index++) {
      this.problems[index] = `${at.join('.')}: ${this.problems[index]}`
    }
    made[policy.name] = value
  }

  /** A policy that calls somebody who is not there fails as its `failureMode` says. */
  #backend(found: string | Refusal): string {
    if (!(found instanceof Refusal)) return found
    const reason = found.detail ?? 'there is no such backend'
    this.problems.push(reason)
    return this.#unreachable(reason)
  }

  #closed({ section, name }: Policy): Record<string, unknown> {
    const reason = `GwPolicy ${this.#place}: ${section}.${name} cannot be used`
    return closedForm(section, name, () => this.#unreachable(reason))
  }

  /** The key of a backend that nobody reaches. */
  #unreachable(reason: string): string {
    const known = this.invalid.find(({ target }) => target.kind === 'invalid' && target.reason === reason)
    if (known !== undefined) return known.key
    const key = `backend/policy/${this.#place}/${this.invalid.length}`
    this.invalid.push({ key, name: 'invalid', target: { kind: 'invalid', reason } })
    return key
  }
}

/** Clients of MCP are led to the first issuer. */
function faultIn({ section, name }: Policy, value: unknown): string | null {
  if (section !== 'traffic' || name !== 'jwtAuthentication') return null
  const { mcp, providers } = value as NonNullable<TrafficPolicies['jwtAuthentication']>
  if (mcp === undefined || isIssuer(providers[0]?.issuer ?? '')) return null
  return 'spec.traffic.jwtAuthentication.providers[0].issuer: must be a URL without user, query or fragment, because clients of MCP are led there'
}
