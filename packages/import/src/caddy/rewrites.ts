import type { Statement } from '../core/statement.ts'
import { anyCase, isPlainPath } from '../http/paths.ts'
import type { Condition } from '../http/conditions.ts'
import { withoutPrefix, type PathState } from '../chain/path-state.ts'
import type { Handler, Route } from '../chain/routes.ts'
import type { State } from '../chain/state.ts'

function change(apply: (path: PathState) => PathState | null): Handler {
  return {
    kind: 'effect',
    applyIf: null,
    ifUnsure: (state) => ({ ...state, path: null }),
    apply: (state: State) => ({ ...state, path: state.path === null ? null : apply(state.path) }),
  }
}

/** Returns a handler for a rewrite that is not imported: a proxy after the rewrite responds with 501. */
export function unknownPath(): Handler {
  return change(() => null)
}

export function rewrite(statement: Statement, [to = '']: readonly string[]): Handler {
  const found = /^(\/[^{}?#\s]*)?(\{uri\}|\{path\}|\{http\.request\.uri(?:\.path)?\})?(?:\?([^#\s]*))?$/.exec(to)
  const [, path = '', rest, query] = found ?? []
  const isQueryKnown = query === undefined || query === '{query}' || (!/[{}]/.test(query) && query.length < 1_000)
  if (
    found === null ||
    !isQueryKnown ||
    (path !== '' && !isPlainPath(path)) ||
    (path === '' && rest === undefined && query === undefined)
  ) {
    statement.notCarried('the importer does not know a placeholder of the new path; matching requests get 501')
    return unknownPath()
  }
  statement.carried()
  const isClients = query === undefined || query === '{query}'
  return change((state) => {
    const next = isClients ? state.query : query
    if (rest === undefined && path !== '') return { prefix: path, cut: null, query: next, isBroken: false }
    return { ...state, prefix: path.replace(/\/$/, '') + state.prefix, query: next }
  })
}

/** Reads the directive `uri`. Only `uri strip_prefix` has a counterpart. */
export function uri(statement: Statement, [verb = '', text = '']: readonly string[]): Handler {
  const prefix = text.startsWith('/') ? text : `/${text}`
  if (verb === 'strip_prefix' && isPlainPath(prefix) && prefix !== '/') {
    statement.carried()
    return { kind: 'routes', routes: stripRoutes(statement, prefix.replace(/\/$/, ''), false) }
  }
  statement.notCarried('the gateway has no counterpart for this change of the path; matching requests get 501')
  return unknownPath()
}

/** Returns routes that remove a prefix from the path. `isSegment` says that a slash always follows the prefix. */
export function stripRoutes(statement: Statement, prefix: string, isSegment: boolean): Route[] {
  const path = prefix.toLowerCase()
  const fits = (kind: 'exact' | 'start', text: string): Condition => ({
    kind: 'path',
    path: anyCase({ kind, path: text }),
  })
  const base = { statement, group: {} }
  const cut = (state: PathState): PathState | null => withoutPrefix(state, prefix)
  const whole = { ...base, condition: fits('start', `${path}/`), handlers: [change(cut)] }
  if (isSegment) return [whole]
  return [
    { ...base, condition: fits('exact', path), handlers: [change((state) => ({ ...state, prefix: '/', cut: null }))] },
    whole,
    { ...base, condition: fits('start', path), handlers: [change((state) => withoutSlash(cut(state)))] },
  ]
}

/** Marks a path that lost its leading slash. Requests with such a path get 400. */
function withoutSlash(state: PathState | null): PathState | null {
  return state === null ? null : { ...state, isBroken: true }
}
