import type { RouteMatch, ValueMatch } from '@portico/gateway/ir'
import { type Output, routeMatch } from '@portico/gateway/schema'
import type { Fields } from '../../resources/fields.ts'
import { validateConfig } from '../validate-config.ts'
import type { Unusable } from '../materials.ts'

export const EVERYTHING: RouteMatch = { path: { kind: 'pathPrefix', value: '/' }, method: null, headers: [], query: [] }

/** The matches of a rule of an HTTPRoute. */
export function httpMatches(rule: Fields): { matches: RouteMatch[] } | Unusable {
  return allOf(rule.objects('matches'), (fields) => {
    const path = fields.object('path')
    const type = path.choice('type', ['Exact', 'PathPrefix', 'RegularExpression']) ?? 'PathPrefix'
    const value = path.text('value') ?? '/'
    path.done()
    const config = {
      path: httpPath(type, value),
      ...(fields.has('method') && { method: fields.text('method') }),
      headers: valuesOf(fields.objects('headers'), (name) => name.toLowerCase()),
      query: valuesOf(fields.objects('queryParams'), (name) => name),
    }
    fields.done()
    return config
  })
}

/** The matches of a rule of a GRPCRoute: a call is a POST to `/service/method`. */
export function grpcMatches(rule: Fields): { matches: RouteMatch[] } | Unusable {
  return allOf(rule.objects('matches'), (fields) => {
    const method = fields.object('method')
    const type = method.choice('type', ['Exact', 'RegularExpression']) ?? 'Exact'
    const path = grpcPath(type, method.text('service') ?? '', method.text('method') ?? '')
    method.done()
    const config = { path, headers: valuesOf(fields.objects('headers'), (name) => name.toLowerCase()) }
    fields.done()
    return config
  })
}

function allOf(list: readonly Fields[], configOf: (fields: Fields) => object): { matches: RouteMatch[] } | Unusable {
  const matches: RouteMatch[] = []
  for (const fields of list) {
    const found = validateConfig(routeMatch, configOf(fields))
    if ('reason' in found) return found
    matches.push(toMatch(found.value))
  }
  return { matches: matches.length === 0 ? [EVERYTHING] : matches }
}

function httpPath(type: 'Exact' | 'PathPrefix' | 'RegularExpression', value: string): object {
  if (type === 'RegularExpression') return { regex: value }
  const path = value.startsWith('/') ? value : `/${value}`
  if (type === 'Exact') return { exact: path }
  return { pathPrefix: path.replace(/\/+$/, '') || '/' }
}

function grpcPath(type: 'Exact' | 'RegularExpression', service: string, method: string): object {
  if (service === '' && method === '') return { pathPrefix: '/' }
  if (type === 'RegularExpression') return { regex: `/${service || '[^/]+'}/${method || '[^/]+'}` }
  if (method === '') return { pathPrefix: `/${service}` }
  return service === '' ? { regex: `/[^/]+/${escapeRegex(method)}` } : { exact: `/${service}/${method}` }
}

function escapeRegex(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/g, String.raw`\$&`)
}

/** When a name occurs several times, the first entry wins. */
function valuesOf(list: readonly Fields[], nameOf: (name: string) => string): object[] {
  const byName = new Map<string, object>()
  for (const fields of list) {
    const name = nameOf(fields.text('name') ?? '')
    const type = fields.choice('type', ['Exact', 'RegularExpression']) ?? 'Exact'
    const value = fields.text('value') ?? ''
    fields.done()
    if (!byName.has(name)) byName.set(name, { name, value: type === 'Exact' ? { exact: value } : { regex: value } })
  }
  return [...byName.values()]
}

type MatchConfig = Output<typeof routeMatch>

function toMatch({ path, method, headers, query }: MatchConfig): RouteMatch {
  return { path: toPath(path), method: method ?? null, headers: headers.map(toValue), query: query.map(toValue) }
}

function toPath({ exact, regex, pathPrefix }: MatchConfig['path']): RouteMatch['path'] {
  if (exact !== undefined) return { kind: 'exact', value: exact }
  return regex === undefined ? { kind: 'pathPrefix', value: pathPrefix ?? '/' } : { kind: 'regex', value: regex }
}

function toValue({ name, value }: MatchConfig['headers'][number]): ValueMatch {
  return value.regex === undefined
    ? { name, kind: 'exact', value: value.exact ?? '' }
    : { name, kind: 'regex', value: value.regex }
}
