import type { Field } from '../../core/yaml-field.ts'
import type { Condition } from '../../http/conditions.ts'
import { anyCase, exactPath, isPlainPath, pathPattern, pathStart } from '../../http/paths.ts'
import type { PathCondition } from '../../http/model.ts'
import { readHeaderMatcher, readQueryMatcher } from './field-matchers.ts'
import { listAt, memberAt, runtimePercentOf } from './message.ts'
import { regexTest } from './string-matcher.ts'

/** The condition of a route, and the part of the path that a rewrite replaces. */
interface RouteMatch {
  readonly condition: Condition
  /** The text at the start of the path that `prefix_rewrite` replaces; null when a rewrite replaces the whole path. */
  readonly matchedPath: string | null
}

/** Reads a RouteMatch, and sets notes on its fields. */
export function readRouteMatch(match: Field | null): RouteMatch {
  const { path, matchedPath } = readPath(match)
  const conditions = [path, ...readFields(match), readFraction(match), ...unknownParts(match)]
  return { condition: { kind: 'all', of: conditions }, matchedPath }
}

function readPath(match: Field | null): { path: Condition; matchedPath: string | null } {
  const sensitivity = memberAt(match, 'case_sensitive')
  sensitivity?.carried()
  const isCaseless = sensitivity?.text === 'false'
  const [prefix, exact, separated, regex] = ['prefix', 'path', 'path_separated_prefix', 'safe_regex'].map((name) =>
    memberAt(match, name),
  )
  const found = (field: Field, path: PathCondition | null, matchedPath: string | null) => {
    if (path === null) field.notCarried('the gateway cannot compare the path')
    else field.carried()
    const kind: Condition =
      path === null
        ? { kind: 'unknown', why: 'the gateway cannot compare the path' }
        : { kind: 'path', path: isCaseless ? anyCase(path) : path }
    return { path: kind, matchedPath }
  }
  if (prefix != null) {
    const text = prefix.text ?? ''
    if (text !== '' && text !== '/') return found(prefix, pathStart(text), text)
    prefix.carried()
    return { path: { kind: 'always', value: true }, matchedPath: text }
  }
  if (exact != null) return found(exact, exactPath(exact.text ?? ''), null)
  if (separated != null) {
    const text = separated.text ?? ''
    return found(separated, isPlainPath(text) && text.length > 1 ? { kind: 'segments', path: text } : null, text)
  }
  if (regex != null) {
    memberAt(regex, 'google_re2')?.carried()
    const field = memberAt(regex, 'regex')
    const test = regexTest(field?.text ?? '')
    const path = typeof test === 'string' || !('regex' in test) ? null : pathPattern(test.regex)
    return found(field ?? regex, path, null)
  }
  const start = templateStart(match)
  if (start !== null) return { path: { kind: 'path', path: start }, matchedPath: null }
  const method: Condition = { kind: 'method', method: 'CONNECT' }
  return { path: memberAt(match, 'connect_matcher') === null ? NO_PATH : method, matchedPath: null }
}

const NO_PATH: Condition = { kind: 'unknown', why: 'the kind of path match has no counterpart' }

/**
 * Returns a condition for paths that begin with the literal start of a path template; null when there is no template.
 */
function templateStart(match: Field | null): PathCondition | null {
  const template = memberAt(match, 'path_match_policy', 'typed_config', 'path_template')?.text
  return template == null ? null : pathStart(template.replace(/[{*][^]*$/, ''))
}

function readFields(match: Field | null): Condition[] {
  const read = (name: string, reader: (field: Field) => Condition): Condition[] =>
    listAt(match, name).map((field) => {
      const condition = reader(field)
      if (condition.kind === 'unknown') field.notCarried(condition.why)
      else field.carried()
      return condition
    })
  const grpc = memberAt(match, 'grpc')
  grpc?.carried()
  return [
    ...read('headers', readHeaderMatcher),
    ...read('query_parameters', readQueryMatcher),
    ...(grpc === null
      ? []
      : [
          {
            kind: 'header' as const,
            header: { name: 'content-type', value: { regex: 'application/grpc(\\+.*)?' } },
          },
        ]),
  ]
}

/** Reads `runtime_fraction`. A route of the gateway matches all requests or none, so the larger part decides. */
function readFraction(match: Field | null): Condition {
  const fraction = memberAt(match, 'runtime_fraction')
  const percent = runtimePercentOf(fraction, 100)
  if (fraction !== null) {
    const word = percent >= 50 ? 'all matching requests' : 'no requests'
    fraction.changed(`the imported route takes ${word}; use weights of backends to divide requests`)
  }
  return { kind: 'always', value: percent >= 50 }
}

const UNKNOWN_PARTS = [
  'connect_matcher',
  'path_match_policy',
  'tls_context',
  'dynamic_metadata',
  'filter_state',
  'cookies',
]

function unknownParts(match: Field | null): Condition[] {
  return UNKNOWN_PARTS.flatMap((name) => {
    const field = memberAt(match, name)
    if (field === null) return []
    const why = `${name} has no counterpart`
    field.notCarried(why)
    return [{ kind: 'unknown' as const, why }]
  })
}
