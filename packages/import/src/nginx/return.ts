import type { Directive } from './directive.ts'
import { routeHost } from '../http/addresses.ts'
import { literalOf } from './text.ts'

interface ReturnReply {
  readonly status: number
  readonly policies: Readonly<Record<string, unknown>>
}

/** Reads a `return` of a server; a text says why it is not possible. */
export function readReturn(directive: Directive, server: Directive): ReturnReply | string {
  const [first = '', second] = directive.args
  const isUrl = /^(https?:|\/|\$scheme)/.test(first)
  const status = isUrl ? 302 : Number(first)
  const text = isUrl ? first : second
  if (!Number.isInteger(status)) return 'the status is not a number'
  if ([301, 302, 303, 307, 308].includes(status) && text !== undefined)
    return redirect(directive, status, withServerName(text, server))
  if (status === 444) {
    directive.changed('requests get 403, because the gateway cannot close connections without a response', true)
    return { status: 403, policies: { directResponse: { status: 403 } } }
  }
  if (status < 200 || status > 599 || (status >= 300 && status < 400))
    return 'the gateway cannot send this status as a direct response'
  const body = text === undefined || text === '' ? undefined : text
  if (body !== undefined && (literalOf(body) === null || body.length > 4_096))
    return 'the text contains variables, or is too long'
  directive.carried()
  return { status, policies: { directResponse: { status, ...(body !== undefined && { body }) } } }
}

/** The text with the first name of the server in place of `$server_name`, if that is a host name. */
function withServerName(text: string, server: Directive): string {
  const [name = ''] = (server.block ?? []).find((each) => each.name === 'server_name')?.args ?? []
  const isHost = name !== '_' && routeHost(name) !== null && !name.startsWith('*')
  return isHost ? text.replaceAll(/\$server_name\b|\$\{server_name\}/g, () => name) : text
}

/** The parts of a URL that a redirect may change. */
const TARGET =
  /^(?:(https?|\$scheme):\/\/([^/$\s]+|\$host|\$http_host|\$server_name))?(\$request_uri|\/[^$\s?#]*)?(\$request_uri|\$is_args\$args)?$/

function redirect(directive: Directive, status: number, text: string): ReturnReply | string {
  const found = TARGET.exec(text)
  const [, scheme, host, path, rest] = found ?? []
  if (found === null || (path !== undefined && rest === '$request_uri') || host === '$server_name')
    return 'the address of the redirect contains variables without a counterpart'
  if (status === 303) return 'the gateway redirects only with status 301, 302, 307 or 308'
  const keepsPath = path === '$request_uri' || rest === '$request_uri'
  const policy = {
    ...(scheme !== undefined && scheme !== '$scheme' && { scheme }),
    ...(host !== undefined && !host.startsWith('$') && { authority: host.includes(':') ? { full: host } : { host } }),
    ...(!keepsPath && { path: { full: path ?? '/' } }),
    status,
  }
  if (keepsPath || rest !== undefined) directive.carried()
  else directive.changed('the redirect keeps the query of the request')
  return { status, policies: { requestRedirect: policy } }
}
