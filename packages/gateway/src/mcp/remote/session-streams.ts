import type { Hub } from '../hub.ts'
import type { Caller } from '../transport.ts'
import { OtherWorkerStream } from './other-worker-stream.ts'
import type { HostedStream, SessionStream } from './session-stream.ts'
import { hostStream } from './stream-host.ts'

export interface SessionStreamsOptions<Stream extends HostedStream> {
  hub: Hub
  addressOf: (session: string) => string
  /** A stream that is yet to be opened; `closed` is told when it is over, whoever ended it. */
  make: (session: string, closed: () => void) => Stream
}

/** The streams of all sessions with one target: those of this worker, and the way to those of others. */
export class SessionStreams<Stream extends HostedStream = HostedStream> {
  readonly #options: SessionStreamsOptions<Stream>
  readonly #own = new Map<string, Stream>()

  constructor(options: SessionStreamsOptions<Stream>) {
    this.#options = options
  }

  find(session: string): SessionStream {
    const { hub, addressOf } = this.#options
    return this.#own.get(session) ?? new OtherWorkerStream(hub, addressOf(session))
  }

  /** A session has one stream, also when two workers begin anew with it. */
  findOrOpen(session: string, caller: Caller, found: (stream: SessionStream) => void): void {
    const own = this.#own.get(session)
    if (own !== undefined) return found(own)
    const known = this.find(session)
    known.where((endpoint) =>
      found(endpoint === null ? (this.#own.get(session) ?? this.#open(session, caller)) : known),
    )
  }

  #open(session: string, caller: Caller): Stream {
    const { hub, addressOf, make } = this.#options
    const stream = make(session, () => {
      if (this.#own.get(session) === stream) this.#own.delete(session)
      unhost()
    })
    this.#own.set(session, stream)
    const unhost = hostStream(stream, addressOf(session), hub)
    stream.open(caller)
    return stream
  }
}
