import type { CompiledRoute } from '../compiled/compiled.ts'
import { type Failure, failures } from '../context/failure.ts'
import type { RequestContext } from '../context/request-context.ts'

/** Changing the protocol is for the route to allow. `upgrade` is what the client offers, or nothing. */
export function protocolRefusal({ upgrades, method }: RequestContext, upgrade: string): Failure | null {
  if (method === 'CONNECT' && !upgrades.has('connect')) return failures.methodNotAllowed
  if (upgrade === '' || upgrades.has(upgrade)) return null
  // An offer of HTTP/2 may be ignored (RFC 9110 section 7.8); forwarding one is a way to smuggle.
  return upgrade === 'h2c' ? null : failures.upgradeNotAllowed
}

/** Index of the backend that is called; -1 when there is none. */
export function pickBackend(
  { pick, backends }: CompiledRoute,
  { sticky }: RequestContext,
  random: () => number,
): number {
  if (pick === null) return -1
  if (backends.length === 1) return pick(0)
  if (sticky === null) return pick(random())
  return pick(
    random(),
    backends.findIndex(({ key }) => key === sticky.backend),
  )
}
