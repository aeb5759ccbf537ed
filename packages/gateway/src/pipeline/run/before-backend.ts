import { HeaderBlock } from '@portico/http'
import { type Failure, failures } from '../context/failure.ts'
import { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'

/**
 * Returns the failure of a request whose route does not allow the change of protocol. `upgrade` is the protocol that the
 * client offers, or empty.
 */
export function protocolRefusal({ upgrades, method }: RequestContext, upgrade: string): Failure | null {
  if (method === 'CONNECT' && !upgrades.has('connect')) return failures.methodNotAllowed
  if (upgrade === '' || upgrades.has(upgrade)) return null
  // An offer of HTTP/2 may be ignored (RFC 9110 section 7.8); forwarding one is a way to smuggle.
  return upgrade === 'h2c' ? null : failures.upgradeNotAllowed
}

/**
 * Counts the hop in `Max-Forwards` of a TRACE or OPTIONS request. Returns the gateway's own response when the count is
 * zero (RFC 9110 section 7.6.2).
 */
export function countHop(rx: RequestContext): Reply | null {
  const left = rx.headers.get('max-forwards')
  if (left === null || !/^[0-9]{1,9}$/.test(left)) return null
  if (Number(left) > 0) {
    rx.headers.set('max-forwards', String(Number(left) - 1))
    return null
  }
  return rx.method === 'TRACE' ? reflection(rx) : new Reply(200, { reason: 'DirectResponse' })
}

/** Returns the received request without fields that may contain secrets (RFC 9110 section 9.3.8). */
function reflection(rx: RequestContext): Reply {
  const lines = [`TRACE ${rx.target} ${rx.exchange.version}`, `host: ${rx.authority}`, 'max-forwards: 0']
  const via = rx.headers.joined('via')
  if (via !== null) lines.push(`via: ${via}`)
  return new Reply(200, {
    headers: HeaderBlock.of([['content-type', 'message/http']]),
    body: Buffer.from(lines.join('\r\n') + '\r\n\r\n', 'latin1'),
    reason: 'DirectResponse',
  })
}
