import type { Exchange } from '@portico/http'
import type { BindState, ServerTls } from '@portico/http/server'
import type { CompiledListener } from '../compiled/compiled.ts'
import { type Failure, failures } from '../context/failure.ts'
import { createHostnameTable, normalizeHost } from '../route/hostname.ts'
import { run } from './run.ts'
import type { RunServices } from './run-services.ts'
import { type RawServices, runRaw } from './run-raw.ts'

export interface EntranceParts {
  listeners: readonly CompiledListener[]
  /** Of those that end TLS; others pass the encrypted bytes on. */
  tlsByListener: ReadonlyMap<string, ServerTls>
  /** Makes `x-forwarded-*` true; null leaves them alone. */
  forward: ((exchange: Exchange) => void) | null
}

/** What becomes of everything that arrives on one port: whose it is, and who runs it. */
export type Entrance = Pick<BindState<string>, 'chooseTls' | 'isRaw' | 'onExchange' | 'onRaw'>

export function createEntrance(
  { listeners, tlsByListener, forward }: EntranceParts,
  requests: RunServices,
  connections: RawServices,
): Entrance {
  const [first] = listeners
  if (first === undefined) throw new Error('a port without a listener')
  const byHost = createHostnameTable(listeners.map((listener) => [listener.hostname, listener] as const))
  const byKey = new Map(listeners.map((listener) => [listener.key, listener]))
  const only = listeners.length === 1 && first.hostname === '' ? first : null

  /** On TLS the server name has chosen already; a Host of another listener would slip past that one's rules. */
  function listenerFor(exchange: Exchange, admitted: string | null): CompiledListener | Failure {
    if (only !== null) return only
    const best = byHost.best(normalizeHost(exchange.authority))
    if (best === null) return failures.listenerNotFound
    return admitted === null || best.key === admitted ? best : failures.misdirected
  }

  return {
    chooseTls(hello) {
      const listener = byHost.best(hello.sni ?? '')
      return listener === null ? null : { tls: tlsByListener.get(listener.key) ?? null, listener: listener.key }
    },
    isRaw: (key) => byKey.get(key)?.protocol === 'TLS',
    onExchange(exchange, admitted) {
      if (forward !== null) forward(exchange)
      run(exchange, listenerFor(exchange, admitted), requests)
    },
    onRaw: (socket, info, admitted) => runRaw(socket, info, byKey.get(admitted ?? '') ?? first, connections),
  }
}
