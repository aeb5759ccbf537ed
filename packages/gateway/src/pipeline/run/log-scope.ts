import { HeadersView } from '@portico/cel'
import type { ConnectionInfo } from '@portico/http'
import type { RequestContext } from '../context/request-context.ts'
import type { RawRun } from './run-raw.ts'
import { ProxyView, Scope, type ScopeServices } from '../views/scope.ts'

/** The variables of logs and metrics, for everything that has an end. */

export function requestScope(rx: RequestContext, services: ScopeServices): object {
  return (rx.scope ??= new Scope(rx, services))
}

/** A connection without HTTP has a client, a place in the config and a backend; expressions over the rest fail. */
export function connectionScope(run: RawRun, { identity, random }: ScopeServices): object {
  const backend = run.route?.backends[run.backendIndex]
  return {
    source: run.connection,
    proxy: new ProxyView(run, identity),
    backend: backend === undefined ? undefined : { name: backend.name, type: backend.kind, protocol: 'tcp' },
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
