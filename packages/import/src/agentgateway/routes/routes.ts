import { commented } from '../../core/config-yaml.ts'
import { positionText } from '../../core/source.ts'
import type { Field } from '../../core/yaml-field.ts'
import { type ReadBackend, worst } from '../backends/ai.ts'
import { readBackend } from '../backends/backends.ts'
import { type Effects, readPolicies } from '../policies/effects.ts'
import { routePolicies } from '../policies/tables.ts'
import {
  type ClosedStatus,
  list,
  lost,
  membersOf,
  missing,
  scalar,
  type Scope,
  type TestedBackend,
} from '../values/convert.ts'
import { whyInvalidConfig } from '../values/validity.ts'
import { type ReadMatch, readMatch } from './matches.ts'

/** An imported route of agentgateway. */
export interface ReadRoute {
  readonly name: string
  readonly namespace: string
  readonly field: Field
  readonly hostnames: readonly unknown[]
  readonly matches: readonly ReadMatch[]
  readonly policies: Readonly<Record<string, unknown>>
  readonly backends: readonly object[]
  /** The status of all requests of the route when the route cannot be imported; null when it is imported. */
  readonly status: ClosedStatus | null
  /** The upstreams that generated tests expect. */
  readonly tested: readonly TestedBackend[]
}

/** Reads a route; returns undefined when one of its matches cannot be expressed. */
export function readRoute(
  field: Field,
  index: number,
  scope: Scope,
  inheritedBy: (key: string) => Effects,
): ReadRoute | undefined {
  const { name, namespace, hostnames } = membersOf(
    field,
    {
      name: scalar,
      namespace: scalar,
      ruleName: missing('Portico has no names for rules within a route'),
      hostnames: list(scalar),
    },
    scope,
  )
  const matches = (field.get('matches')?.items ?? []).map((each) => readMatch(each, scope))
  if (matches.includes(undefined)) return undefined
  const why = whyInvalidRoute(
    headOf({ hostnames: (hostnames as unknown[] | undefined) ?? [], matches: matches as ReadMatch[] }),
    scope,
  )
  if (why !== null) {
    field.notCarried(`${why}; all requests of the listener get 403`, true)
    return undefined
  }
  const key = `${textOf(namespace, 'default')}/${textOf(name, `route${index}`)}`
  const inherited = inheritedBy(key)
  const policies = field.get('policies')
  const effects = readPolicies(policies, routePolicies(policies?.get('retry') != null), scope, 'traffic')
  const backends = (field.get('backends')?.items ?? []).map((each) => ({
    read: readBackend(each, scope),
    weight: weightOf(each),
  }))
  const route: ReadRoute = {
    ...{ field, hostnames: (hostnames as unknown[] | undefined) ?? [] },
    ...{ name: textOf(name, `route${index}`), namespace: textOf(namespace, 'default') },
    matches: matches as readonly ReadMatch[],
    policies: inherit(effects.policies, inherited.policies),
    backends: backends.map(({ read, weight }) => printBackend(read, weight)),
    status: worst([effects.status, inherited.status, ...backends.map(({ read }) => read.status)]),
    tested: backends.filter(({ weight }) => weight !== 0).map(({ read }) => read.tested),
  }
  const problem = route.status === null ? (misplacedPrefix(route) ?? whyInvalidRoute(wholeOf(route), scope)) : null
  if (problem === null) return route
  field.notCarried(`${problem}; requests get 501`, true)
  return { ...route, status: 501 }
}

/**
 * Says that a rewrite replaces a prefix although a match of the route has no prefix. agentgateway reports this problem
 * only when a request comes.
 */
function misplacedPrefix({ policies, matches }: ReadRoute): string | null {
  const changes = ['urlRewrite', 'requestRedirect'].map(
    (name) => policies[name] as { path?: { prefix?: unknown } } | undefined,
  )
  const hasPrefix = changes.some((change) => change?.path?.prefix !== undefined)
  const isPrefix = matches.every(({ match: { path } }) => path === null || path.kind === 'segments')
  return hasPrefix && !isPrefix ? 'the policy rewrites a prefix, but not all matches of the route are prefixes' : null
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise
}

function weightOf(field: Field): number | undefined {
  const weight = field.get('weight')
  if (weight === null) return undefined
  if (weight.number === null) return lost(weight, 'expected a number')
  weight.carried()
  return weight.number
}

function printBackend({ backend, policies }: ReadBackend, weight: number | undefined): object {
  return {
    ...(weight !== undefined && { weight }),
    ...backend,
    ...(Object.keys(policies).length > 0 && { policies }),
  }
}

/**
 * Joins the policies of a route with inherited ones. Policies of the route replace inherited policies, but
 * authorization rules of both apply.
 */
export function inherit(own: Effects['policies'], inherited: Effects['policies']): Record<string, unknown> {
  const rules = [own, inherited].flatMap(
    ({ authorization }) => (authorization as { rules?: unknown[] } | undefined)?.rules ?? [],
  )
  const backend = { ...(inherited['backend'] as object | undefined), ...(own['backend'] as object | undefined) }
  return {
    ...inherited,
    ...own,
    ...(rules.length > 0 && { authorization: { rules } }),
    ...(Object.keys(backend).length > 0 && { backend }),
  }
}

/** Prints a route for the Portico config. */
export function printRoute(route: ReadRoute, name: string): object {
  const { field, status } = route
  const comment = `${positionText(field.at)} ${route.name}`.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
  if (status === null) return commented({ name, ...wholeOf(route) }, comment)
  const body = `not imported: ${positionText(field.at)}\n`
  return commented({ name, ...headOf(route), policies: { directResponse: { status, body } } }, comment)
}

function wholeOf(route: ReadRoute): object {
  const { policies, backends } = route
  return {
    ...headOf(route),
    ...(Object.keys(policies).length > 0 && { policies }),
    ...(backends.length > 0 && { backends }),
  }
}

/** Prints the hosts and matches of a route. */
function headOf({ hostnames, matches }: { hostnames: readonly unknown[]; matches: readonly ReadMatch[] }): object {
  return {
    ...(hostnames.length > 0 && { hostnames }),
    ...(matches.length > 0 && { matches: matches.map(({ printed }) => printed) }),
  }
}

function whyInvalidRoute(route: object, scope: Scope): string | null {
  return whyInvalidConfig({ binds: [{ port: 1, listeners: [{ routes: [route] }] }] }, scope, 6)
}
