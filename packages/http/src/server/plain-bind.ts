import type { Exchange } from '../exchange/exchange.ts'
import type { BindState } from './bind-state.ts'
import { http2Defaults } from './http2/server-connection.ts'

/**
 * `plainHttpBind` returns the state of a bind that serves HTTP/1.1 and HTTP/2 without TLS, with default limits. Spread
 * it to change a limit.
 */
export function plainHttpBind(onExchange: (exchange: Exchange) => void): BindState<never> {
  return {
    kind: 'http',
    proxyProtocol: null,
    admits: null,
    keepalive: { retries: 9, timeMs: 180_000, intervalMs: 180_000 },
    cap: null,
    handshakeTimeoutMs: 15_000,
    http1: { maxHeaders: 100, idleTimeoutMs: 600_000 },
    http2: http2Defaults,
    maxConnectionDurationMs: 0,
    acceptTls: (socket) => socket.destroy(),
    chooseTls: () => null,
    onExchange,
    onRaw(socket) {
      socket.destroy()
      return { openRoute: null }
    },
    onMalformed() {},
    onRefused() {},
  }
}
