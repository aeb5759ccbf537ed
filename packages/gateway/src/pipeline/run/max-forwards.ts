import { HeaderBlock } from '@portico/http'
import { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'

/** Counts the hop in `Max-Forwards` of TRACE and OPTIONS; at zero the gateway is the one that is asked (RFC 9110 section 7.6.2). */
export function countHop(rx: RequestContext): Reply | null {
  if (rx.method !== 'TRACE' && rx.method !== 'OPTIONS') return null
  const left = rx.headers.get('max-forwards')
  if (left === null || !/^[0-9]{1,9}$/.test(left)) return null
  if (Number(left) > 0) {
    rx.headers.set('max-forwards', String(Number(left) - 1))
    return null
  }
  return rx.method === 'TRACE' ? reflection(rx) : new Reply(200, { reason: 'DirectResponse' })
}

/** The request as it came, without fields in which secrets could be (RFC 9110 section 9.3.8). */
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
