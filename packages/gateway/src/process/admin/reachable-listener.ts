import { isIP } from 'node:net'
import { type ReachableListener, reachable } from '../../admin/send/reachable-listener.ts'
import { indexPolicies } from '../../ir/merge.ts'
import { PoliciesByTarget } from '../../ir/policies-by-target.ts'
import type { Ir } from '../../ir/resources.ts'
import { joinedTraffic } from '../../policies/order.ts'

/** `findReachableListener` returns the address at which this process reaches a listener, or the reason why it cannot. */
export function findReachableListener(
  { binds, listeners, policies }: Ir,
  ports: Readonly<Record<string, number>>,
  bindKey: string,
  listenerKey: string,
): ReachableListener | string {
  const bind = binds.find(({ key }) => key === bindKey)
  if (bind === undefined) return `there is no bind ${JSON.stringify(bindKey)}: GET /api/routes lists them`
  const listener = listeners.find(({ key }) => key === listenerKey)
  if (listener?.bind !== bindKey)
    return `bind ${JSON.stringify(bindKey)} has no listener ${JSON.stringify(listenerKey)}: GET /api/routes lists them`
  const { protocol, hostname, tls } = listener
  if (protocol !== 'HTTP' && protocol !== 'HTTPS')
    return `listener ${listenerKey} takes connections of ${protocol}, not requests`
  if (tls !== null && tls.root !== null && tls.clientsMayLack !== true && tls.clientCertificates !== 'Request')
    return `listener ${listenerKey} requires a client certificate, and requests sent from here have none`
  const port = Object.hasOwn(ports, bindKey) ? ports[bindKey] : undefined
  const address = reachable(bind.address)
  // A name is not resolved here; it could lead to another machine.
  if (port === undefined || isIP(address) === 0) return `this process does not listen for bind ${bindKey}`
  const isTls = protocol === 'HTTPS'
  const index = indexPolicies(PoliciesByTarget.of(policies), joinedTraffic)
  const { proxyProtocol, tls: offered } = index.ofBind(bindKey)?.frontend ?? index.frontend()
  return {
    address,
    port,
    isTls,
    hostname,
    proxyHeader: proxyProtocol?.mode === 'Strict' ? (proxyProtocol.version === 'V1' ? 'V1' : 'V2') : null,
    isHttp2: isTls && offered?.alpnProtocols.includes('http/1.1') === false && offered.alpnProtocols.includes('h2'),
  }
}
