import { Socket } from 'node:net'
import { emptySource, type Exchange, HeaderBlock } from '@portico/http'
import { Fields, MessageHead, RequestHead } from '@portico/http/server'
import { StartReader } from '../body/buffered-body.ts'

/**
 * Keeps objects alive so that V8 keeps their shapes (hidden classes): the last request of each kind. Optimized code depends
 * on the shapes of its objects. When the garbage collector finds no object of a shape, V8 discards the shape and the code.
 */
export class ShapeKeepalive {
  /** One object of each class whose objects are garbage before their request is over. */
  readonly shortLived: readonly object[] = (shortLived ??= makeShortLived())
  readonly #byProtocol: readonly Map<string, object>[] = Array.from({ length: 4 }, () => new Map<string, object>())

  /** `run` references all objects of the request; `backend` is the kind of the backend that responded. */
  keep(run: object, { version, connection, bytesIn, bytesOut }: Exchange, backend: string): void {
    // A request may reference the whole of a large body; a stream references none of its response.
    if ((backend === STREAM ? bytesIn : bytesIn + bytesOut) > MAX_BYTES) return
    const protocol = (version === 'HTTP/2' ? 1 : 0) + (connection.scheme === 'https' ? 2 : 0)
    this.#byProtocol[protocol]?.set(backend, run)
  }

  /** Drops the objects of a config that is no longer live. */
  drop(): void {
    for (const kept of this.#byProtocol) kept.clear()
  }
}

/** The objects that all keepalives of a thread share. */
let shortLived: readonly object[] | undefined

function makeShortLived(): readonly object[] {
  return [
    new MessageHead(new HeaderBlock()),
    new RequestHead(new HeaderBlock()),
    new Fields(),
    new StartReader(emptySource, 0, { started: () => {} }),
    setImmediate(() => {}),
    brokenSocket(),
  ]
}

/**
 * Returns a socket that was destroyed with an error. Its state has another shape than that of a healthy socket. If the
 * first such shape appeared later, V8 would discard all code that was optimized for healthy sockets alone.
 */
function brokenSocket(): Socket {
  const socket = new Socket()
  socket.on('error', () => {})
  const error = new Error('broken')
  // The runtime reads the stack of the error, which takes 1 ms to build from the positions of a large chunk.
  error.stack = ''
  return socket.destroy(error)
}

/** The kind of streamed responses of language models, which consist of other objects than whole responses. */
export const STREAM = 'stream'
const MAX_BYTES = 64 * 1024
