import type { Statement } from '../core/statement.ts'
import { cidrOf, routeHost } from '../http/addresses.ts'
import type { Condition } from '../http/conditions.ts'
import type { PathCondition } from '../http/model.ts'
import { anyCase, escapeRegex, exactPath, pathPattern, pathStart, wholePattern } from '../http/paths.ts'

/** The named matchers that a directive can refer to. */
export type Matchers = ReadonlyMap<string, Matcher>

export interface Matcher {
  readonly condition: Condition
  /** The path of the matcher as written, if it has exactly one path; Caddy sorts directives by this path. */
  readonly path: string | null
  /** The conditions of the matcher as written. Caddy joins neighboring directives with the same conditions. */
  readonly key: string
}

export function pathMatcher(text: string): Matcher {
  return { condition: pathCondition(text), path: text, key: keyOf([{ name: 'path', args: [text], block: null }]) }
}

function keyOf(tests: readonly Test[]): string {
  const plain = ({ name, args, block }: Test): unknown => [name, args, (block ?? []).map(plain)]
  return JSON.stringify(tests.map(plain))
}

/** Properties that all requests to a site share. */
export interface SiteFacts {
  readonly isTls: boolean
}

const ALWAYS: Condition = { kind: 'always', value: true }

/** Reads the definition of a named matcher: `@name path /a` or `@name { … }`. */
export function readMatcher(statement: Statement, facts: SiteFacts): Matcher {
  statement.carried()
  const [name] = statement.args
  const tests =
    name === undefined ? (statement.block ?? []) : [{ name, args: statement.args.slice(1), block: statement.block }]
  const paths = tests.filter(({ name }) => name === 'path').flatMap(({ args }) => args)
  return {
    condition: readCondition(statement, facts),
    path: paths.length === 1 ? (paths[0] ?? null) : null,
    key: keyOf(tests),
  }
}

function readCondition(statement: Statement, facts: SiteFacts): Condition {
  const { args, block } = statement
  const [first] = args
  if (first !== undefined && /^`|[(=<>]/.test(first))
    return noting(statement, unknown('the importer does not read expressions; write the expression in CEL'))
  const found =
    first === undefined ? readSet(block ?? [], facts) : readTest({ name: first, args: args.slice(1), block }, facts)
  return noting(statement, found)
}

/** Reports a matcher as not carried when a part of its condition is unknown. */
function noting(statement: Statement, condition: Condition): Condition {
  const why = unknownPart(condition)
  if (why !== '') statement.notCarried(why)
  return condition
}

function unknownPart(condition: Condition): string {
  if (condition.kind === 'unknown') return condition.why
  const parts = condition.kind === 'not' ? [condition.of] : 'of' in condition ? condition.of : []
  return parts.map(unknownPart).find((why) => why !== '') ?? ''
}

/**
 * Reads a set of conditions that must all hold. Several lines with paths, with hosts or with the same header are
 * alternatives.
 */
function readSet(list: readonly Statement[], facts: SiteFacts): Condition {
  const groups = new Map<string, Condition[]>()
  for (const statement of list) {
    const { name, args } = statement
    const test = noting(statement, readTest(statement, facts))
    if (test.kind !== 'unknown') statement.carried()
    const key =
      name === 'header'
        ? `header ${args[0]?.toLowerCase()}`
        : ['not', 'path_regexp', 'header_regexp'].includes(name)
          ? `${groups.size}`
          : name
    groups.set(key, [...(groups.get(key) ?? []), test])
  }
  return { kind: 'all', of: [...groups.values()].map((of) => ({ kind: 'any', of })) }
}

type Test = Pick<Statement, 'name' | 'args' | 'block'>

function readTest({ name, args, block }: Test, facts: SiteFacts): Condition {
  const any = (read: (value: string) => Condition): Condition => ({ kind: 'any', of: args.map(read) })
  switch (name) {
    case 'path':
      return any(pathCondition)
    case 'host':
      return any(hostCondition)
    case 'method':
      return any((value) => ({ kind: 'method', method: value.toUpperCase() }))
    case 'header':
      return headerCondition(args)
    case 'header_regexp': {
      const [field = '', regex = ''] = args.length > 2 ? args.slice(1) : args
      const found = isFieldName(field) ? pathPattern(wholePattern(regex)) : null
      if (found?.kind !== 'pattern') return unknown('the pattern is not valid RE2 syntax')
      return { kind: 'header', header: { name: headerName(field), value: { regex: found.regex } } }
    }
    case 'path_regexp': {
      const path = pathPattern(wholePattern(args.at(-1) ?? ''))
      return path === null ? unknown('the pattern is not valid RE2 syntax') : { kind: 'path', path }
    }
    case 'query':
      return queryCondition(args)
    case 'protocol':
      return protocolCondition(args, facts)
    case 'remote_ip':
    case 'client_ip':
      if (args[0] === 'forwarded') return unknown('the matcher compares the address in x-forwarded-for')
      return {
        kind: 'any',
        of: args.flatMap((value) => (value === 'private_ranges' ? PRIVATE : [value])).map(addressCondition),
      }
    case 'not': {
      const [first] = args
      const of =
        first === undefined ? readSet(block ?? [], facts) : readTest({ name: first, args: args.slice(1), block }, facts)
      return { kind: 'not', of }
    }
    case 'expression':
      return unknown('the importer does not read expressions; write the expression in CEL')
    case 'file':
      return unknown('the gateway serves no files')
    default:
      return unknown(`the matcher ${name.slice(0, 40)} has no counterpart`)
  }
}

const PRIVATE = ['192.168.0.0/16', '172.16.0.0/12', '10.0.0.0/8', '127.0.0.1/8', 'fd00::/8', '::1']

function unknown(why: string): Condition {
  return { kind: 'unknown', why }
}

/** Reads a path with stars. Caddy compares paths without regard to letter case. */
function pathCondition(text: string): Condition {
  const path = readPath(text)
  if (text === '*' || text === '/*') return ALWAYS
  return path === null
    ? unknown(`the path ${text.slice(0, 60)} has no counterpart`)
    : { kind: 'path', path: anyCase(path) }
}

function readPath(text: string): PathCondition | null {
  if (/[%{}[\]?\\]/.test(text)) return null
  const stars = text.split('*').length - 1
  if (stars === 0) return exactPath(text)
  if (stars === 1 && text.endsWith('*')) return pathStart(text.slice(0, -1))
  if (stars === 1 && text.startsWith('*')) return pathPattern(`.*${escapeRegex(text.slice(1))}`)
  if (stars === 2 && text.startsWith('*') && text.endsWith('*'))
    return pathPattern(`.*${escapeRegex(text.slice(1, -1))}.*`)
  return pathPattern(text.split('*').map(escapeRegex).join('[^/]*'))
}

function hostCondition(text: string): Condition {
  const host = routeHost(text)
  return host === null ? unknown(`${text.slice(0, 60)} is not a valid hostname`) : { kind: 'host', host }
}

function isFieldName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text)
}

function headerName(field: string): string {
  return field.toLowerCase() === 'host' ? ':authority' : field.toLowerCase()
}

/**
 * Reads a condition on a header: `Name value`, `Name *value*`, `Name` for any value, or `!Name` for an absent header.
 */
function headerCondition([field = '', value]: readonly string[]): Condition {
  const isAbsence = field.startsWith('!')
  const name = isAbsence ? field.slice(1) : field
  if (!isFieldName(name) || value?.includes('{') === true) return unknown("the header's name or value is not literal")
  const regex = value === undefined || value === '*' ? '.*' : value.split('*').map(escapeRegex).join('.*')
  const isExact = value !== undefined && !value.includes('*')
  const header = { name: headerName(name), value: isExact ? { exact: value } : { regex } }
  if (value !== undefined && /[^\x20-\x7e]/.test(value)) return unknown('the header value is not ASCII')
  return isAbsence ? { kind: 'not', of: { kind: 'header', header } } : { kind: 'header', header }
}

function queryCondition(args: readonly string[]): Condition {
  const found = args.map((arg) => /^([^=]+)=([^]*)$/.exec(arg))
  const names = new Set(found.map((each) => each?.[1]))
  if (names.size > 1) return unknown('versions of Caddy treat several query parameters differently')
  return {
    kind: 'any',
    of: found.map((each) => {
      const [, name = '', value = ''] = each ?? []
      if (each === null || name.length > 256 || /[{}]/.test(name + value))
        return unknown('the query parameter is not written as name=value')
      return { kind: 'query', query: { name, value: value === '*' ? { regex: '.*' } : { exact: value } } }
    }),
  }
}

function protocolCondition([name = '']: readonly string[], { isTls }: SiteFacts): Condition {
  if (name === 'http' || name === 'https') return { kind: 'always', value: isTls === (name === 'https') }
  if (name === 'grpc')
    return { kind: 'header', header: { name: 'content-type', value: { regex: 'application/grpc.*' } } }
  return unknown(`the protocol ${name.slice(0, 20)} has no counterpart`)
}

function addressCondition(text: string): Condition {
  const cidr = cidrOf(text)
  return cidr === null ? unknown(`${text.slice(0, 60)} is not an address`) : { kind: 'address', cidr }
}
