import type { IncomingMessage } from 'node:http'
import { printable } from '../printable.ts'
import type { AdminAddress } from './admin-address.ts'

/** Each message is one line: the problem, and what to do. */

export function unreachableProblem({ label }: AdminAddress, error: NodeJS.ErrnoException): string {
  const code = error.code ?? ''
  if (code === 'ECONNREFUSED' || code === 'ENOENT') {
    return `nothing listens on the admin address ${label}: start the gateway, or give its address with --admin`
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `cannot resolve the host of the admin address ${label}`
  if (code.startsWith('HPE_') || code === 'ECONNRESET') {
    return `${label} does not answer as an admin server: give the gateway's admin address with --admin`
  }
  return `cannot reach the admin address ${label}: ${printable(code === '' ? error.message : code)}`
}

interface RefusedResponse {
  readonly admin: AdminAddress
  readonly token: string | null
  readonly response: IncomingMessage
  readonly text: string
}

export function refusalProblem({ admin: { label }, token, response, text }: RefusedResponse): string {
  const [firstLine = ''] = text.trim().split('\n', 1)
  const said = printable(firstLine.slice(0, 500))
  const { statusCode = 0 } = response
  switch (statusCode) {
    case 400:
      return `${label} rejected the trace: ${said}`
    case 401:
      return token === null
        ? `${label} requires a token: set it with --admin-token or PORTICO_ADMIN_TOKEN`
        : `${label} rejected the token: --admin-token or PORTICO_ADMIN_TOKEN must be the gateway's ADMIN_TOKEN, or a token of its config.admin.tokens`
    case 403:
      if (said.includes('needs a token with the scope')) return `${label}: ${said}`
      return `${label} refused the request (${said}): give the address that the gateway itself listens on with --admin`
    case 404:
    case 405:
      return `${label} has no /debug/trace: it is not the admin address of Portico, or the gateway is too old`
    case 503:
      return `${label} cannot trace now: ${said === '' ? 'it is busy' : said}`
    case 200:
      return `${label} did not return a trace: give the gateway's admin address with --admin`
    default:
      return `${label} answered ${statusCode}${said === '' ? '' : ` (${said})`} instead of a trace: is it the admin address of Portico?`
  }
}
