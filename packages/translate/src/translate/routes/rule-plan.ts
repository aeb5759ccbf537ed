import type { Backend, RouteMatch } from '@portico/gateway/ir'
import type { TrafficPolicies } from '@portico/gateway/schema'
import { type FieldProblem, Fields, printFieldProblem } from '../../resources/fields.ts'
import type { RouteKind } from '../../resources/kinds.ts'
import type { Context } from '../context.ts'
import { durationAt } from '../durations.ts'
import { delegatedFilterProblem, type DelegationPlan, planDelegation } from './delegation-plan.ts'
import { resolveExtensions } from './extension-filters.ts'
import { backendFilters, grpcFilters, httpFilters, NO_FILTERS, onlyBackendFilters, readFilters } from './filters.ts'
import { grpcMatches, httpMatches } from './matches.ts'
import type { Unusable } from '../materials.ts'
import { planModels } from '../models/plan-models.ts'
import { type EntryPlan, httpWithTimeout, planEntry } from './rule-entry.ts'
import { readPersistence } from '../session-persistence.ts'
import { trafficOf } from './rule-traffic.ts'

/** The translation of a rule, independent of listeners. */
export interface RulePlan {
  name: string
  matches: RouteMatch[]
  traffic: TrafficPolicies | null
  entries: EntryPlan[]
  /** Backends that its filters call, mirrors and an authorizer, and those of GwModels that cannot be used. */
  called: Backend[]
  /** Why the rule cannot be used: all of its requests get 500. */
  refusal: Unusable | null
  /** The first unresolved reference. */
  unresolved: Unusable | null
  problems: FieldProblem[]
  /** Parts of its backends that are not served. */
  ignored: string[]
  /** The HTTPRoutes that the rule delegates to, by `namespace/name`; it has no entries then. */
  children: string[]
  /** The GwFilters that hold for the rule, by `namespace/name`. */
  filters: string[]
  refusedChildren: DelegationPlan['refused']
  /** The limit of each call to a backend, in milliseconds. */
  requestTimeout: number | undefined
}

interface RuleOwner {
  kind: RouteKind
  namespace: string
  name: string
}

export function planRule(context: Context, owner: RuleOwner, input: unknown, index: number): RulePlan {
  const problems: FieldProblem[] = []
  const rule = new Fields(input, ['spec', 'rules', index], problems)
  const name = rule.text('name') ?? ''
  const isHttp = owner.kind === 'HTTPRoute'
  const hasMatches = isHttp || owner.kind === 'GRPCRoute'
  const found = hasMatches ? (isHttp ? httpMatches(rule) : grpcMatches(rule)) : { matches: [] }
  const filters = hasMatches ? readFilters(rule, owner.namespace, isHttp ? httpFilters : grpcFilters) : NO_FILTERS
  const timeouts = isHttp ? readTimeouts(rule) : owner.kind === 'GRPCRoute' ? UNLIMITED : NO_TIMEOUTS
  const retry = isHttp ? readRetry(rule) : {}
  const sessionPersistence = hasMatches ? readPersistence(rule) : undefined
  const references = rule.objects('backendRefs')
  const supported = !hasMatches ? null : references.length === 1 ? onlyBackendFilters : backendFilters
  const delegation = isHttp ? planDelegation(context, { ...owner, rule: name }, references) : null
  const models = isHttp && delegation === null ? planModels(context, { ...owner, index }, references) : null
  const written =
    models !== null
      ? [modelsEntry(models.to, timeouts.backend)]
      : delegation === null
        ? references.map((fields) => planEntry(context, owner, { fields, supported, requestTimeout: timeouts.backend }))
        : refusedEntries(delegation)
  rule.done()
  const mirrors = written.flatMap((entry) => entry.mirrors)
  const made =
    'reason' in filters
      ? filters
      : trafficOf(
          context,
          owner,
          { ...filters, mirrors: [...filters.mirrors, ...mirrors] },
          { ...timeouts.policies, ...retry, ...(sessionPersistence !== undefined && { sessionPersistence }) },
        )
  const taken = 'reason' in made ? [] : Object.keys(made.traffic ?? {})
  const extensions = resolveExtensions(context, 'reason' in filters ? [] : filters.extensions, taken)
  const closed = 'reason' in made ? null : (made.closed ?? extensions.closed)
  // Without the authorizer or a GwFilter no request passes, whatever else the rule contains.
  const entries = closed === null ? written : [unusableEntry(closed)]
  const children = closed === null ? (delegation?.children ?? []) : []
  const wrong = problems.find(({ code }) => code === 'wrong')
  const refusal: Unusable | null =
    !hasMatches && index > 0
      ? NOT_THE_FIRST
      : 'reason' in found
        ? found
        : 'reason' in made
          ? made
          : wrong !== undefined
            ? { reason: 'UnsupportedValue', message: printFieldProblem(wrong) }
            : delegation === null
              ? (extensions.refusal ?? models?.refusal ?? prefixProblem(found.matches, made.traffic, entries))
              : (extensions.refusal ?? delegation.refusal ?? delegatedFilterProblem(made.traffic))
  const refusedChildren = delegation?.refused ?? []
  const broken = entries.flatMap(({ to }) => ('reason' in to ? to : []))
  const unresolved =
    refusedChildren.length > 0
      ? allOf(refusedChildren.map(({ problem }) => problem))
      : (allOf(models?.refused ?? []) ?? [...broken, ...('reason' in made ? [] : made.unresolved)][0] ?? null)
  return {
    name,
    matches: 'reason' in found ? [] : found.matches,
    traffic: 'reason' in made ? null : made.traffic,
    called: [...('reason' in made ? [] : made.called), ...(models?.broken ?? [])],
    entries,
    refusal,
    unresolved,
    problems,
    ignored: entries.flatMap(({ to }) => ('reason' in to ? [] : (to.ignored ?? []))),
    children,
    filters: extensions.filters,
    refusedChildren,
    requestTimeout: timeouts.backend,
  }
}

/** A rule of which no HTTPRoute can be used answers 500, as with other backends. */
function refusedEntries({ children, refused }: DelegationPlan): EntryPlan[] {
  return children.length > 0 ? [] : refused.map(({ problem }) => unusableEntry(problem))
}

/** The entry of the GwModels of a rule. */
function modelsEntry(to: EntryPlan['to'], requestTimeout: number | undefined): EntryPlan {
  const policies = requestTimeout === undefined ? null : { http: httpWithTimeout(to, requestTimeout) }
  return { weight: 1, to, policies, mirrors: [] }
}

function unusableEntry(to: Unusable): EntryPlan {
  return { weight: 1, to, policies: null, mirrors: [] }
}

/** Joins the messages of several problems; the first one has the reason. */
function allOf(problems: readonly Unusable[]): Unusable | null {
  const [first] = problems
  return first === undefined ? null : { ...first, message: problems.map(({ message }) => message).join('; ') }
}

/** Nothing distinguishes the rules of connections without HTTP, so only the first is used. */
const NOT_THE_FIRST: Unusable = {
  reason: 'UnsupportedValue',
  message: 'is not served, because its connections cannot be distinguished from those of rules[0]',
}

interface Timeouts {
  policies: Record<string, unknown>
  backend: number | undefined
}

const NO_TIMEOUTS: Timeouts = { policies: {}, backend: undefined }
/** GRPCRoutes get no timeouts from Gateway-wide policies, because calls may be streams. */
const UNLIMITED: Timeouts = { policies: { timeouts: {} }, backend: undefined }

function readTimeouts(rule: Fields): Timeouts {
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

/** A prefix can only be replaced when the rule matches by prefix. */
function prefixProblem(
  matches: readonly RouteMatch[],
  traffic: TrafficPolicies | null,
  entries: readonly EntryPlan[],
): Unusable | null {
  const paths = [
    traffic?.urlRewrite?.path,
    traffic?.requestRedirect?.path,
    ...entries.map(({ policies }) => policies?.urlRewrite?.path),
  ]
  const isPrefix = paths.some((path) => path?.prefix !== undefined)
  if (!isPrefix || matches.every(({ path }) => path.kind === 'pathPrefix')) return null
  return { reason: 'UnsupportedValue', message: 'ReplacePrefixMatch needs matches of type PathPrefix' }
}
