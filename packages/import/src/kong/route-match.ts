import type { Field } from '../core/yaml-field.ts'
import { routeHost } from '../http/addresses.ts'
import type { Condition } from '../http/conditions.ts'
import { escapeRegex, isRegex, literalStart, pathPattern, pathStart, wholePattern } from '../http/paths.ts'
import { type Entity, textsOf } from './entities.ts'
import { variableOfText } from './placeholders.ts'

/** A match of a Kong route: for one path of the route, or for all paths when the route has none. */
export interface RouteMatch {
  readonly condition: Condition
  /** A condition that routes can express, and that holds for at least the same requests as `condition`. */
  readonly wide: Condition
  readonly path: RoutePath | null
  /**
   * The priority of the match among all matches of Kong: numbers are compared from left to right, and larger numbers
   * come first.
   */
  readonly priority: readonly number[]
}

export type RoutePath =
  | { readonly kind: 'prefix'; readonly text: string }
  | { readonly kind: 'pattern'; readonly regex: string }

/** Returns the matches of a route on a port, one for each path of the route. */
export function readMatches(route: Entity, version: number, isTls: boolean): RouteMatch[] {
  const [hosts, paths, methods, headers, snis] = ['hosts', 'paths', 'methods', 'headers', 'snis'].map((name) =>
    route.get(name),
  )
  const priority = route.get('regex_priority')
  priority?.carried()
  if (route.get('expression') !== null) return [expressionMatch(route)]
  const hostList = hosts?.items ?? []
  const headerList = (headers?.members ?? []).filter(([name]) => name.toLowerCase() !== 'host')
  methods?.carried()
  const parts: Condition[] = [
    ...(hostList.length === 0 ? [] : [anyOf(hostList.map(readHost))]),
    ...(methods == null || textsOf(methods).length === 0
      ? []
      : [anyOf(textsOf(methods).map((method) => ({ kind: 'method', method: method.toUpperCase() })))]),
    ...headerList.map(([name, field]) => readHeader(name, field)),
    ...(isTls && snis != null ? [readSnis(snis)] : []),
  ]
  if (!isTls) snis?.carried('the gateway compares snis only on ports with TLS')
  const pathList = paths?.items ?? []
  const weight =
    [hosts, paths, methods, snis].filter((field) => field != null && textsOf(field).length > 0).length +
    (headerList.length > 0 ? 1 : 0)
  const isPlainHost = hostList.length > 0 && hostList.every(({ text }) => !(text ?? '').includes('*'))
  const rank = [weight, Number(isPlainHost), headerList.length]
  if (pathList.length === 0) {
    const condition: Condition = { kind: 'all', of: parts }
    return [{ condition, wide: widened(condition), path: null, priority: [...rank, 0, 0, 0] }]
  }
  return pathList.map((field) => {
    const { path, condition, wide } = readPath(field, version)
    const isPattern = path.kind === 'pattern'
    const length = (field.text ?? '').length
    return {
      condition: { kind: 'all', of: [condition, ...parts] },
      wide: { kind: 'all', of: [wide, ...parts.map(widened)] },
      path,
      priority: [...rank, Number(isPattern), isPattern ? (priority?.number ?? 0) : 0, length],
    }
  })
}

const ANY: Condition = { kind: 'always', value: true }

function anyOf(of: readonly Condition[]): Condition {
  return of.length === 1 ? (of[0] ?? ANY) : { kind: 'any', of }
}

function unknown(why: string): Condition {
  return { kind: 'unknown', why }
}

/** Replaces unknown parts of a condition by a condition that always holds. */
function widened(condition: Condition): Condition {
  if (condition.kind === 'all' || condition.kind === 'any')
    return { kind: condition.kind, of: condition.of.map(widened) }
  return condition.kind === 'unknown' ? ANY : condition
}

/**
 * Returns a match for all requests, for a route with an expression, because the importer does not read route
 * expressions.
 */
function expressionMatch(route: Entity): RouteMatch {
  const priority = route.get('priority')?.number ?? 0
  route.get('priority')?.notCarried('the expression of the route is not carried')
  return {
    condition: unknown('the importer does not read route expressions'),
    wide: ANY,
    path: null,
    priority: [99, priority],
  }
}

function readHost(field: Field): Condition {
  const text = field.text ?? ''
  const variable = variableOfText(text)
  if (variable !== null) {
    field.changed(`the value is taken from the environment variable ${variable}`)
    return { kind: 'host', host: `\${${variable}}` }
  }
  const found = routeHost(text)
  if (found !== null) {
    if (/:\d+$/.test(text)) field.changed('the gateway ignores the port of the Host')
    else field.carried()
    return { kind: 'host', host: found }
  }
  const start = /^([a-z0-9-]+(?:\.[a-z0-9-]+)*)\.\*$/i.exec(text)?.[1]
  if (start === undefined) {
    field.notCarried('the value is not a valid hostname', true)
    return unknown(`${text.slice(0, 60)} is not a valid hostname`)
  }
  field.carried()
  const regex = `(?i)${escapeRegex(start)}\\..+`
  return { kind: 'header', header: { name: ':authority', value: { regex } } }
}

function readHeader(name: string, field: Field): Condition {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    field.notCarried('the header name is not valid', true)
    return unknown('the gateway cannot compare a header of the route')
  }
  const conditions = textsOf(field).map((text): Condition => {
    const isPattern = text.startsWith('~*')
    const regex = isPattern ? wholePattern(`(?i)${text.slice(2)}`) : `(?i)${escapeRegex(text)}`
    if (/[^\x20-\x7e]/.test(text) || !isRegex(regex)) return unknown(`a value of the header ${name} has no counterpart`)
    const value = isPattern || /[a-z]/i.test(text) ? { regex } : { exact: text }
    return { kind: 'header', header: { name: name.toLowerCase(), value } }
  })
  if (conditions.some(({ kind }) => kind === 'unknown'))
    field.notCarried('the gateway cannot compare one of the values', true)
  else field.carried()
  return anyOf(conditions)
}

function readSnis(field: Field): Condition {
  field.changed('the gateway compares the names with the Host of requests, which usually equals the TLS server name')
  return anyOf(
    textsOf(field).map((text) => {
      const host = routeHost(text.replace(/\.$/, ''))
      return host === null ? unknown(`${text.slice(0, 60)} is not a valid hostname`) : { kind: 'host', host }
    }),
  )
}

/**
 * Whether a path is a pattern. In formats before version 3, a path with characters that plain paths do not have is a
 * pattern.
 */
function isPatternPath(text: string, version: number): boolean {
  return version >= 3 ? text.startsWith('~') : !/^[a-zA-Z0-9._~/%-]*$/.test(text)
}

function readPath(field: Field, version: number): { path: RoutePath; condition: Condition; wide: Condition } {
  const text = field.text ?? ''
  if (!isPatternPath(text, version)) {
    const found = text === '' ? null : pathStart(text)
    const path: RoutePath = { kind: 'prefix', text }
    if (text === '/') {
      field.carried()
      return { path, condition: ANY, wide: ANY }
    }
    if (found === null) {
      field.notCarried('no request can have this path', true)
      return { path, condition: unknown('the gateway cannot compare the path'), wide: ANY }
    }
    field.carried()
    return { path, condition: { kind: 'path', path: found }, wide: { kind: 'path', path: found } }
  }
  const regex = text
    .replace(/^~/, '')
    .replace(/^\^/, '')
    .replaceAll('(?<', '(?P<')
    .replaceAll(/\(\?P<([=!])/g, '(?<$1')
  const found = pathPattern(wholePattern(`^${regex.includes('|') ? `(?:${regex})` : regex}`))
  const path: RoutePath = { kind: 'pattern', regex }
  if (found !== null) {
    field.carried()
    return { path, condition: { kind: 'path', path: found }, wide: { kind: 'path', path: found } }
  }
  field.notCarried('the pattern is not valid RE2 syntax', true)
  const start = pathStart(literalStart(regex))
  const wide: Condition = start === null ? ANY : { kind: 'path', path: start }
  return { path, condition: unknown('the pattern is not valid RE2 syntax'), wide }
}
