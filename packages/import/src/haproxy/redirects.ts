import type { Statement } from '../core/statement.ts'
import type { Action } from '../http/entries.ts'
import { isPlainPath } from '../http/paths.ts'

const STATUSES = [301, 302, 303, 307, 308]
const TARGET =
  /^(?:(https?):\/\/(%\[(?:req\.)?hdr\(host\)[^\]]*\]|[a-zA-Z0-9.-]+(?::\d{1,5})?))?(%\[(?:capture\.req\.uri|url|pathq)\]|\/[^%?#\s]*)?$/

/**
 * Reads a redirect rule: `scheme https`, `prefix URL` or `location URL`. Returns the reason as a string when the rule
 * has no counterpart.
 */
export function readRedirect(line: Statement, words: readonly string[]): Action | string {
  const [kind = '', target = '', ...options] = words
  const at = options.indexOf('code')
  const status = at === -1 ? 302 : Number(options[at + 1])
  if (!STATUSES.includes(status)) return 'the gateway redirects only with status 301, 302, 303, 307 or 308'
  const lost = options.filter((word) => ['drop-query', 'append-slash', 'set-cookie', 'clear-cookie'].includes(word))
  if (kind === 'scheme') {
    if (target !== 'http' && target !== 'https') return 'the scheme is neither http nor https'
    note(line, lost, false)
    return redirect(line, { scheme: target, status })
  }
  const found = TARGET.exec(kind === 'prefix' ? target.replace(/\/$/, '') : target)
  if (found === null || (kind !== 'prefix' && kind !== 'location'))
    return 'the address of the redirect contains samples without a counterpart'
  const [, scheme, host, path] = found
  const authority =
    host === undefined || host.startsWith('%') ? undefined : host.includes(':') ? { full: host } : { host }
  const url = { ...(scheme !== undefined && { scheme }), ...(authority !== undefined && { authority }) }
  const keepsPath = kind === 'prefix' ? path === undefined : path?.startsWith('%') === true
  if (keepsPath && scheme !== undefined) {
    note(line, lost, false)
    return redirect(line, { ...url, status })
  }
  if (kind === 'prefix' || keepsPath || (path === undefined && scheme === undefined))
    return 'the redirect keeps a part of the path; configure a requestRedirect policy'
  const full = path ?? '/'
  if (!isPlainPath(full)) return 'the path contains characters that need encoding'
  note(line, lost, true)
  return redirect(line, { ...url, path: { full }, status })
}

function note(line: Statement, lost: readonly string[], keepsQuery: boolean): void {
  if (lost.length > 0) line.changed(`the importer ignores ${lost.join(', ')}`)
  else if (keepsQuery) line.changed('the redirect keeps the query of the request')
  else line.carried()
}

function redirect(line: Statement, policy: { readonly status: number } & Record<string, unknown>): Action {
  return {
    ...{ name: `redirect-${line.at.line}`, at: line.at, source: line.text, backends: [] },
    policies: { requestRedirect: policy },
    outcome: { kind: 'status', status: policy.status },
  }
}
