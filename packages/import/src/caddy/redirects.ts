import { withoutAbsent } from '../core/config-yaml.ts'
import type { Statement } from '../core/statement.ts'
import type { Action } from '../http/entries.ts'
import { isPlainPath } from '../http/paths.ts'
import { hasPlaceholder, textExpression } from './placeholders.ts'
import { final, notImported, statusReply } from '../chain/replies.ts'
import type { Handler } from '../chain/routes.ts'
import { policiesOf, type State } from '../chain/state.ts'

const CODES: Readonly<Record<string, number>> = { permanent: 301, temporary: 302, html: 302 }
const TARGET =
  /^(?:(https?|\{scheme\}|\{http\.request\.scheme\}):\/\/([^/{}\s?#]+|\{(?:http\.request\.)?(?:host|hostport)\}))?(\{uri\}|\{http\.request\.uri\}|\/[^{}?#\s]*)?$/

export function redirect(statement: Statement, [target = '', code = 'temporary']: readonly string[]): Handler {
  const status = CODES[code] ?? Number(code)
  if (target === '' || ![301, 302, 303, 307, 308].includes(status)) {
    if (status === 401 || (status >= 400 && status <= 599)) {
      statement.changed('the response has no Location')
      return final((state) => statusReply(statement, status, state))
    }
    statement.notCarried('the gateway redirects only with status 301, 302, 303, 307 or 308; matching requests get 501')
    return notImported(statement)
  }
  const found = TARGET.exec(target)
  const [, scheme, host, path] = found ?? []
  const keepsPath = path?.startsWith('{') === true
  const isSimple =
    found !== null && (path === undefined || keepsPath || isPlainPath(path)) && !(keepsPath && scheme === undefined)
  if (!isSimple) return computedRedirect(statement, target, status)
  if (code === 'html') statement.changed('the gateway redirects with status 302 instead of an HTML page')
  else if (keepsPath) statement.carried()
  else statement.changed('the redirect keeps the query of the request')
  const policy = withoutAbsent({
    scheme: scheme === undefined || scheme.startsWith('{') ? undefined : scheme,
    authority: host === undefined || host.startsWith('{') ? undefined : host.includes(':') ? { full: host } : { host },
    path: keepsPath ? undefined : { full: path ?? '/' },
    status,
  })
  return final((state) => {
    // A directive before the redirect rewrote the path, so the address is computed.
    if (keepsPath && (state.path === null || state.path.prefix !== '' || state.path.cut !== ''))
      return computedAction(statement, target, status, state)
    return {
      ...statusReply(statement, status, state),
      policies: { ...policiesOf(state, false), requestRedirect: policy },
    }
  })
}

/** Reads a redirect whose address has placeholders: it becomes a direct response with a computed `Location`. */
function computedRedirect(statement: Statement, target: string, status: number): Handler {
  if (textExpression(target, true) === null) {
    statement.notCarried('the importer does not know a placeholder of the address; matching requests get 501')
    return notImported(statement)
  }
  statement.carried()
  return final((state) => computedAction(statement, target, status, state))
}

function computedAction(statement: Statement, target: string, status: number, state: State): Action {
  const isPathKept = state.path !== null && state.path.prefix === '' && state.path.cut === ''
  const expression = textExpression(target, isPathKept)
  if (expression === null) {
    statement.notCarried('the address contains a rewritten path, which cannot be computed; matching requests get 501')
    return statusReply(statement, 501, state)
  }
  const reply = statusReply(statement, status, state)
  const response = hasPlaceholder(target)
    ? { transformation: { response: { set: [{ name: 'location', value: expression }] } } }
    : {}
  const headers = hasPlaceholder(target) ? {} : { headers: [{ name: 'location', value: target }] }
  return { ...reply, policies: { ...reply.policies, directResponse: { status, ...headers }, ...response } }
}
