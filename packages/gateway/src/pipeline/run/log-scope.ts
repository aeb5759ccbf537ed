import { HeadersView } from '@portico/cel'
import type { ConnectionInfo } from '@portico/http'
import type { RequestContext } from '../context/request-context.ts'
import type { RawRun } from './raw-run.ts'
import { ProxyView, Scope, type ScopeServices } from '../views/scope.ts'

/** The variables of expressions in logs, metrics and records, for finished requests and connections. */

export function requestScope(rx: RequestContext, services: ScopeServices): object {
  return (rx.scope ??= new Scope(rx, services))
}

/** The variables of a connection without HTTP: its client, listener, route and backend; all others are absent. */
export function connectionScope(run: RawRun, { identity, random }: ScopeServices): object {
  const backend = run.route?.backends[run.backendIndex]
  return {
    source: run.connection,
    proxy: new ProxyView(run, identity),
    backend:
      backend === undefined
        ? undefined
        : { name: backend.name, type: backend.kind, protocol: run.protocol === 'udp' ? 'udp' : 'tcp' },
    env: identity,
    random,
  }
}

/** The variables of a malformed message: only its sender and its response are known. */
export function malformedScope(
  { info, status }: { info: ConnectionInfo; status: number },
  { identity, random }: ScopeServices,
): object {
  return {
    source: info,
    response: { code: status, headers: NO_HEADERS },
    proxy: new ProxyView(NOWHERE, identity),
    env: identity,
    random,
  }
}

const NOWHERE = { listener: null, route: null }

class NoHeaders extends HeadersView {
  get(): undefined {}

  keys(): Iterable<string> {
    return []
  }
}

const NO_HEADERS = new NoHeaders()
