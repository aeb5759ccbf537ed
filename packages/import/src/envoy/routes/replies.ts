import { final, notImported, statusReply } from '../../chain/replies.ts'
import type { Directive, Handler } from '../../chain/routes.ts'
import { policiesOf } from '../../chain/state.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { hostPortOf } from '../../http/addresses.ts'
import { isPlainPath } from '../../http/paths.ts'
import { enumOf, memberAt, takeFlag } from '../messages/message.ts'
import { inlineTextOf } from '../messages/secrets.ts'

const STATUSES: Readonly<Record<string, number>> = {
  MOVED_PERMANENTLY: 301,
  FOUND: 302,
  SEE_OTHER: 303,
  TEMPORARY_REDIRECT: 307,
  PERMANENT_REDIRECT: 308,
}

/** Reads a RedirectAction. */
export function readRedirect(redirect: Field, directive: Directive, port: number): Handler {
  const code = memberAt(redirect, 'response_code')
  code?.carried()
  const status = STATUSES[enumOf(code, 'MOVED_PERMANENTLY')] ?? 301
  const path = newPath(redirect)
  const authority = newAuthority(redirect)
  const scheme = takeFlag(redirect, 'https_redirect')
    ? 'https'
    : (memberAt(redirect, 'scheme_redirect')?.text?.toLowerCase() ?? undefined)
  memberAt(redirect, 'scheme_redirect')?.carried()
  const isScheme = scheme === undefined || scheme === 'http' || scheme === 'https'
  if (path === null || authority === null || !isScheme) {
    directive.notCarried('the address of the redirect has no counterpart; its requests get 501')
    return notImported(directive)
  }
  if (takeFlag(redirect, 'strip_query')) memberAt(redirect, 'strip_query')?.changed('the query is kept')
  if (scheme !== undefined && authority === undefined && port !== 80 && port !== 443)
    memberAt(redirect, 'https_redirect')?.changed('without the port of the Host')
  const policy = withoutAbsent({ scheme, authority, path, status })
  return final((state) => ({
    ...statusReply(directive, status, state),
    policies: { ...policiesOf(state, false), requestRedirect: policy },
  }))
}

/** Undefined for the path of the request, and null for one that cannot be expressed. */
function newPath(redirect: Field): object | null | undefined {
  const [full, prefix, regex] = ['path_redirect', 'prefix_rewrite', 'regex_rewrite'].map((name) =>
    memberAt(redirect, name),
  )
  if (prefix != null || regex != null) return null
  if (full == null) return undefined
  if (!isPlainPath(full.text ?? '')) return null
  full.carried()
  return { full: full.text }
}

function newAuthority(redirect: Field): object | null | undefined {
  const [host, port] = [memberAt(redirect, 'host_redirect'), memberAt(redirect, 'port_redirect')]
  const number = port?.number ?? null
  if (host !== null) {
    const full = `${host.text}${number === null ? '' : `:${number}`}`
    if (hostPortOf(full, 80) === null) return null
    for (const each of [host, port]) each?.carried()
    return { full }
  }
  if (port === null) return undefined
  if (number === null || number < 1 || number > 65_535) return null
  port.carried()
  return { port: number }
}

const LONGEST_BODY = 4_096

/** Reads a DirectResponseAction. */
export function readDirectResponse(response: Field, directive: Directive): Handler {
  const status = memberAt(response, 'status')
  const code = status?.number ?? 0
  if (!Number.isInteger(code) || code < 200 || code > 599) {
    status?.notCarried('the status of a response is 200 to 599; its requests get 501')
    return notImported(directive)
  }
  status?.carried()
  const source = memberAt(response, 'body')
  const text = inlineTextOf(source)
  const isUsable = text !== null && text.length <= LONGEST_BODY
  if (isUsable) source?.carried()
  else source?.notCarried('only texts of up to 4096 characters are carried')
  const body = isUsable && text !== '' ? { body: text, headers: [{ name: 'content-type', value: 'text/plain' }] } : {}
  return final((state) => statusReply(directive, code, state, body))
}
