import type { Exchange } from '@portico/http'
import type { BindState, ServerTls } from '@portico/http/server'
import type { CompiledListener } from '../compiled/compiled.ts'
import { type Failure, failures } from '../context/failure.ts'
import { createHostnameTable, normalizeHost } from '../route/hostname.ts'
import { run } from './run.ts'
import type { RunServices } from './run-services.ts'
import { type RawServices, runRaw } from './run-raw.ts'

interface EntranceParts {
  listeners: readonly CompiledListener[]
  /** TLS of the listeners that terminate it; others forward the encrypted bytes. */
  tlsByListener: ReadonlyMap<string, ServerTls>
  /** Sets `x-forwarded-*`; null leaves the headers alone. */
  forward: ((exchange: Exchange) => void) | null
}

/** The entrance of one port: chooses the listener of each request and connection, and runs them. */
type Entrance = Pick<BindState<string>, 'chooseTls' | 'isRaw' | 'onExchange' | 'onRaw'>

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

  /** Returns the listener of a request. On TLS it must be the listener of the server name, whose rules a Host must not bypass. */
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
