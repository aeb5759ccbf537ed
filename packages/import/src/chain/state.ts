import { withoutAbsent } from '../core/config-yaml.ts'
import { CLIENT_PATH, pathExpression, type PathState } from './path-state.ts'

/** A change of a request header. Its value is an expression, or an object for a value with environment variables. */
export interface RequestHeader {
  readonly name: string
  readonly value: string | object
  /** An expression that is true for the requests that get the header; null when all requests get it. */
  readonly when: string | null
  /** Whether the header is added as a further line, and existing lines with its name are kept. */
  readonly isAdded?: true
}

export interface ResponseHeader {
  /** The kind of change. `default` sets a header only if it is absent, `replace` only if it is present. */
  readonly verb: 'set' | 'add' | 'remove' | 'default' | 'replace'
  readonly name: string
  /** A literal text, or an object for a value with environment variables. */
  readonly value: string | object
  readonly when: string | null
}

/** The effects of all directives that a request passed before the directive that responds to it. */
export interface State {
  /** The path after rewrites; null when a rewrite could not be imported. */
  readonly path: PathState | null
  readonly request: readonly RequestHeader[]
  readonly response: readonly ResponseHeader[]
  /** The other policies of the route, by policy name. */
  readonly policies: Readonly<Record<string, unknown>>
  /** CEL expressions; a request is denied if one of them is true. */
  readonly denials: readonly string[]
}

export const FIRST_STATE: State = { path: CLIENT_PATH, request: [], response: [], policies: {}, denials: [] }

/** Adds header changes. When the route would have too many changes, adds none and calls `tooMany`. */
export function withHeaders(
  state: State,
  changes: { readonly request: readonly RequestHeader[] } | { readonly response: readonly ResponseHeader[] },
  tooMany: () => void,
): State {
  const next =
    'request' in changes
      ? { ...state, request: [...state.request, ...changes.request] }
      : { ...state, response: [...state.response, ...changes.response] }
  const lists = [next.request, next.response]
  // A route can change 16 headers, and one of these changes is reserved for `:path`.
  const fits = lists.every((list) => list.length < 16 || new Set(list.map(({ name }) => name)).size < 16)
  if (fits) return next
  tooMany()
  return state
}

/** Returns the policies of a route for the effects in a state. */
export function policiesOf(state: State, isProxy: boolean): Record<string, unknown> {
  const { path, policies, denials } = state
  const expression = path === null || !isProxy ? null : pathExpression(path)
  const metadata = new Map<string, string>()
  // Expressions of the response phase see the rewritten path. Conditions on the path are evaluated in the request
  // phase, and their results are kept as metadata.
  const condition = (when: string): string => {
    if (expression === null || !when.includes('request.path')) return when
    const name = metadata.get(when) ?? `c${metadata.size + 1}`
    metadata.set(when, name)
    return `metadata.${name}`
  }
  const request = isProxy ? requestChanges(state) : { set: [], fixed: [], add: [], fixedAdd: [] }
  const response = responseChanges(state, condition)
  const set = [...request.set, ...(expression === null ? [] : [{ name: ':path', value: expression }])]
  const requestPart = withoutAbsent({
    metadata: metadata.size === 0 ? undefined : Object.fromEntries([...metadata].map(([when, name]) => [name, when])),
    add: request.add.length === 0 ? undefined : request.add.slice(0, 16),
    set: set.length === 0 ? undefined : set.slice(0, 16),
  })
  const transformation = withoutAbsent({
    request: Object.keys(requestPart).length === 0 ? undefined : requestPart,
    response: response.computed.length === 0 ? undefined : { set: response.computed.slice(0, 16) },
  })
  const fixed = withoutAbsent({
    add: request.fixedAdd.length === 0 ? undefined : request.fixedAdd.slice(0, 16),
    set: request.fixed.length === 0 ? undefined : request.fixed.slice(0, 16),
  })
  const modifiers = withoutAbsent({
    request: Object.keys(fixed).length === 0 ? undefined : fixed,
    response: Object.keys(response.fixed).length === 0 ? undefined : response.fixed,
  })
  return withoutAbsent({
    authorization: denials.length === 0 ? undefined : { rules: [...new Set(denials)].map((deny) => ({ deny })) },
    ...policies,
    transformation: Object.keys(transformation).length === 0 ? undefined : transformation,
    headerModifiers: Object.keys(modifiers).length === 0 ? undefined : modifiers,
  })
}

interface RequestChanges {
  readonly set: object[]
  readonly fixed: object[]
  readonly add: object[]
  readonly fixedAdd: object[]
}

function requestChanges({ request }: State): RequestChanges {
  const byName = Map.groupBy(request, ({ name }) => name)
  const changes: RequestChanges = { set: [], fixed: [], add: [], fixedAdd: [] }
  for (const [name, list] of byName) {
    const variable = list.findLast(({ value }) => typeof value === 'object')
    if (list.every(({ isAdded, when }) => isAdded === true && when === null)) {
      const isLiteral = list.every(({ value }) => literalOf(value) !== null)
      for (const { value } of list) {
        if (isLiteral || typeof value === 'object') changes.fixedAdd.push({ name, value: literalOf(value) })
        else changes.add.push({ name, value })
      }
    } else if (variable !== undefined) changes.fixed.push({ name, value: variable.value })
    else changes.set.push({ name, value: valueAfter(name, list) })
  }
  return changes
}

/**
 * Returns an expression for the value of a header after several changes: a text, or a list of lines if a change added a
 * line.
 */
function valueAfter(name: string, list: readonly RequestHeader[]): string {
  let text = `request.headers[${JSON.stringify(name)}]`
  let lines = `default(request.headers.raw()[${JSON.stringify(name)}], [])`
  for (const { value, when, isAdded } of list) {
    if (typeof value === 'object') continue
    if (isAdded === true) {
      lines = lines === '[]' ? `[${value}]` : `${lines} + [${value}]`
      text = lines
      continue
    }
    const own = value === '[]' ? '[]' : `[${value}]`
    lines = when === null ? own : `((${when}) ? ${own} : ${lines})`
    text = choice(when, value, text)
  }
  return text
}

/**
 * Returns the value of a header that needs no expression: an object with environment variables, or the text of a string
 * literal. Null for other values.
 */
function literalOf(value: string | object): string | object | null {
  if (typeof value === 'object') return value
  return /^"(?:[^"\\]|\\["\\])*"$/.test(value) ? (JSON.parse(value) as string) : null
}

function choice(when: string | null, value: string, otherwise: string): string {
  return when === null ? value : `(${when}) ? dyn(${value}) : dyn(${otherwise})`
}

interface ResponseChanges {
  readonly fixed: Record<string, unknown[]>
  readonly computed: object[]
}

function responseChanges({ response }: State, condition: (when: string) => string): ResponseChanges {
  const byName = Map.groupBy(response, ({ name }) => name)
  const fixed: Record<string, unknown[]> = {}
  const computed: object[] = []
  for (const [name, list] of byName) {
    if (list.some(({ when, verb }) => when !== null || verb === 'default' || verb === 'replace')) {
      const value = list.reduce(
        (before, { verb, value: found, when }) => {
          if (typeof found === 'object') return before
          const text = responseValue(name, verb, found, before)
          return choice(when === null ? null : condition(when), text, before)
        },
        `response.headers[${JSON.stringify(name)}]`,
      )
      computed.push({ name, value })
      continue
    }
    const start = list.findLastIndex(({ verb }) => verb !== 'add')
    for (const { verb, value } of list.slice(Math.max(start, 0))) {
      const found = (fixed[verb] ??= [])
      if (found.length < 16) found.push(verb === 'remove' ? name : { name, value })
    }
  }
  return { fixed, computed }
}

function responseValue(name: string, verb: ResponseHeader['verb'], text: string, before: string): string {
  const quoted = JSON.stringify(text)
  switch (verb) {
    case 'remove':
      return '[]'
    case 'default':
      return `default(${before}, ${quoted})`
    case 'replace':
      return `${JSON.stringify(name)} in response.headers ? dyn(${quoted}) : dyn([])`
    case 'set':
    case 'add':
      return quoted
  }
}
