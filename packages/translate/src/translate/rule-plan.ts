import type { Backend, RouteMatch } from '@portico/gateway/ir'
import type { BackendPolicies, TrafficPolicies } from '@portico/gateway/schema'
import { type FieldProblem, Fields, printFieldProblem } from '../resources/fields.ts'
import type { RouteKind } from '../resources/kinds.ts'
import { readBackendRef } from '../resources/references.ts'
import { resolveBackend } from './backend-refs.ts'
import { checkedTraffic } from './checked.ts'
import type { Context } from './context.ts'
import { durationAt } from './durations.ts'
import { backendFilters, grpcFilters, httpFilters, NO_FILTERS, readFilters } from './filters.ts'
import { asTransformation } from './header-expressions.ts'
import { grpcMatches, httpMatches } from './matches.ts'
import type { Unusable } from './materials.ts'
import { trafficOf } from './rule-traffic.ts'

/** A rule, whatever listeners it is for. */
export interface RulePlan {
  name: string
  matches: RouteMatch[]
  traffic: TrafficPolicies | null
  entries: EntryPlan[]
  /** Backends that its filters call: those of mirrors, and an authorizer. */
  called: Backend[]
  /** Why it cannot be run as it is: all of its requests are answered with 500. */
  refusal: Unusable | null
  /** The first reference that leads nowhere. */
  unresolved: Unusable | null
  problems: FieldProblem[]
  /** What of its backends is not served. */
  ignored: string[]
}

export interface EntryPlan {
  weight: number
  to: { backend: Backend; ignored?: string[] } | Unusable
  policies: BackendPolicies | null
}

export interface RuleOwner {
  kind: RouteKind
  namespace: string
}

export function planRule(context: Context, owner: RuleOwner, input: unknown, index: number): RulePlan {
  const problems: FieldProblem[] = []
  const rule = new Fields(input, ['spec', 'rules', index], problems)
  const name = rule.text('name') ?? ''
  const isHttp = owner.kind === 'HTTPRoute'
  const hasMatches = isHttp || owner.kind === 'GRPCRoute'
  const found = hasMatches ? (isHttp ? httpMatches(rule) : grpcMatches(rule)) : { matches: [] }
  const filters = hasMatches ? readFilters(rule, owner.namespace, isHttp ? httpFilters : grpcFilters) : NO_FILTERS
  const timeouts = readTimeouts(rule)
  const retry = readRetry(rule)
  const written = rule
    .objects('backendRefs')
    .map((fields) => planEntry(context, owner, { fields, hasFilters: hasMatches, requestTimeout: timeouts.backend }))
  rule.done()
  const made = 'reason' in filters ? filters : trafficOf(context, owner, filters, { ...timeouts.policies, ...retry })
  const closed = 'reason' in made ? null : made.closed
  // Without the authorizer nobody passes, whatever else the rule says.
  const entries = closed === null ? written : [{ weight: 1, to: closed, policies: null }]
  const wrong = problems.find(({ code }) => code === 'wrong')
  const refusal =
    !hasMatches && index > 0
      ? NOT_THE_FIRST
      : 'reason' in found
        ? found
        : 'reason' in made
          ? made
          : wrong === undefined
            ? prefixProblem(found.matches, made.traffic)
            : { reason: 'UnsupportedValue', message: printFieldProblem(wrong) }
  const broken = entries.flatMap(({ to }) => ('reason' in to ? to : []))
  const unresolved = [...broken, ...('reason' in made ? [] : made.unresolved)][0] ?? null
  return {
    name,
    matches: 'reason' in found ? [] : found.matches,
    traffic: 'reason' in made ? null : made.traffic,
    called: 'reason' in made ? [] : made.called,
    entries,
    refusal,
    unresolved,
    problems,
    ignored: entries.flatMap(({ to }) => ('reason' in to ? [] : (to.ignored ?? []))),
  }
}

/** Of connections without HTTP nothing tells one rule from another. */
const NOT_THE_FIRST: Unusable = {
  reason: 'UnsupportedValue',
  message: 'is not served, because nothing tells its connections from those of rules[0]',
}

function planEntry(
  context: Context,
  owner: RuleOwner,
  { fields, hasFilters, requestTimeout }: { fields: Fields; hasFilters: boolean; requestTimeout: number | undefined },
): EntryPlan {
  const reference = readBackendRef(fields, owner.namespace)
  const filters = hasFilters ? readFilters(fields, owner.namespace, backendFilters) : NO_FILTERS
  fields.done()
  const weight = reference?.weight ?? 1
  const nothing: Unusable = { reason: 'BackendNotFound', message: 'The backendRef names nothing' }
  const checkedFilters = 'reason' in filters ? filters : checkedTraffic(filters.policies)
  if ('reason' in checkedFilters) return { weight, to: checkedFilters, policies: null }
  const to = reference === undefined ? nothing : resolveBackend(context, owner, reference)
  const headers = checkedFilters.traffic.headerModifiers
  const target = 'reason' in to ? null : to.backend.target
  const version = target?.kind === 'service' ? target.version : null
  const policies: BackendPolicies = {
    ...(headers !== undefined && { transformation: asTransformation(headers) }),
    ...(requestTimeout !== undefined && { http: { requestTimeout, ...(version !== null && { version }) } }),
  }
  return { weight, to, policies: Object.keys(policies).length === 0 ? null : policies }
}

function readTimeouts(rule: Fields): { policies: Record<string, unknown>; backend: number | undefined } {
  const timeouts = rule.object('timeouts')
  const [request, backend] = [durationAt(timeouts, 'request'), durationAt(timeouts, 'backendRequest')]
  timeouts.done()
  // Zero means no limit.
  const policies = request === undefined || request === 0 ? {} : { timeouts: { request: `${request}ms` } }
  return { policies, backend: backend === 0 ? undefined : backend }
}

function readRetry(rule: Fields): Record<string, unknown> {
  if (!rule.has('retry')) return {}
  const retry = rule.object('retry')
  const attempts = retry.integer('attempts') ?? 1
  const backoff = durationAt(retry, 'backoff')
  const codes = retry.raw('codes')
  retry.done()
  if (attempts === 0) return {}
  return {
    retry: {
      attempts: Math.min(attempts, 255),
      ...(backoff !== undefined && { backoff: `${backoff}ms` }),
      ...(codes !== undefined && { codes }),
    },
  }
}

/** A new prefix can only take the place of one that was matched. */
function prefixProblem(matches: readonly RouteMatch[], traffic: TrafficPolicies | null): Unusable | null {
  const isPrefix =
    traffic?.urlRewrite?.path?.prefix !== undefined || traffic?.requestRedirect?.path?.prefix !== undefined
  if (!isPrefix || matches.every(({ path }) => path.kind === 'pathPrefix')) return null
  return { reason: 'UnsupportedValue', message: 'ReplacePrefixMatch needs matches of type PathPrefix' }
}
