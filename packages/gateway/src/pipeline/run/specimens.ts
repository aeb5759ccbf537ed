import { Socket } from 'node:net'
import { emptySource, type Exchange, HeaderBlock } from '@portico/http'
import { Fields, MessageHead, RequestHead } from '@portico/http/server'
import { StartReader } from '../body/buffered-body.ts'

/**
 * Keeps the last request of each kind after it is over. Code that V8 has optimised depends on the shapes of the objects it
 * works on, and a shape lives while an object has it: a collection that meets none of them throws the code away.
 */
export class Specimens {
  /** Objects that are garbage before their request is over. */
  readonly shortLived: readonly object[] = [
    new MessageHead(new HeaderBlock()),
    new RequestHead(new HeaderBlock()),
    new Fields(),
    new StartReader(emptySource, 0, { started: () => {} }),
    setImmediate(() => {}),
    brokenSocket(),
  ]
  readonly #byProtocol: readonly Map<string, object>[] = Array.from({ length: 4 }, () => new Map<string, object>())

  /** `run` references all objects of the request; `backend` is the kind of the backend that responded. */
  keep(run: object, { version, connection, bytesIn, bytesOut }: Exchange, backend: string): void {
    // A request may hold all of a large body; a stream holds nothing of its response.
    if ((backend === STREAM ? bytesIn : bytesIn + bytesOut) > MOST_BYTES) return
    const protocol = (version === 'HTTP/2' ? 1 : 0) + (connection.scheme === 'https' ? 2 : 0)
    this.#byProtocol[protocol]?.set(backend, run)
  }

  /** Drops the objects of a config that is no longer live. */
  drop(): void {
    for (const kept of this.#byProtocol) kept.clear()
  }
}

/**
 * A socket keeps the error it broke of, which gives its state a shape of its own; where that is the first such shape, all
 * code that took the other one for the only one is thrown away. So one has it before any code is optimised.
 */
function brokenSocket(): Socket {
  const socket = new Socket()
  socket.on('error', () => {})
  return socket.destroy(new Error('broken'))
}

/** The kind of what streams answers of language models: other objects than those of a whole answer. */
export const STREAM = 'stream'
const MOST_BYTES = 64 * 1024
