import { type ConnectionInfo, emptySource, type Exchange, HeaderBlock, type Sink } from '@portico/http'
import { RequestContext } from '../context/request-context.ts'
import type { CallContext } from '../context/step.ts'

interface OwnRequest {
  readonly path: string
  readonly authority: string
  /** The connection of the client for whom the gateway calls; absent when it calls for nobody. */
  readonly connection?: ConnectionInfo
  /** The gateways that the request of that client has passed. */
  readonly hops?: string
}

/** The context of a call of the gateway itself, so that the policies of the backend have a request to look at. */
export function ownContext(
  { path, authority, connection = NOBODY, hops = '' }: OwnRequest,
  now: number,
): CallContext & { readonly rx: RequestContext } {
  const exchange: Exchange = {
    connection,
    version: 'HTTP/1.1',
    method: 'POST',
    authority,
    target: path,
    headers: new HeaderBlock(),
    body: emptySource,
    upgrade: '',
    teTrailers: false,
    claimsForwarding: false,
    hops,
    observer: null,
    bytesIn: 0,
    bytesOut: 0,
    respond: unanswerable,
    inform: unanswerable,
    takeOver: unanswerable,
    reset() {},
  }
  return {
    rx: new RequestContext(exchange, now),
    hops,
    clientVersion: 'HTTP/1.1',
    clientScheme: 'http',
    connectingTo() {},
  }
}

const NOBODY: ConnectionInfo = {
  address: '',
  port: 0,
  rawAddress: '',
  rawPort: 0,
  scheme: 'http',
  sni: '',
  handshake: '',
  source: '',
  destination: () => ({ address: '', port: 0 }),
  principal: () => '',
}

function unanswerable(): Sink & null {
  throw new Error('a request of the gateway itself has no client to respond to')
}
