import type { Hub } from '../hub.ts'
import type { Caller } from '../transport.ts'
import { OtherWorkerStream } from './other-worker-stream.ts'
import type { HostedStream, SessionStream } from './session-stream.ts'
import { hostStream } from './stream-host.ts'

interface SessionStreamsOptions<Stream extends HostedStream> {
  hub: Hub
  addressOf: (session: string) => string
  /** Creates a stream without opening it; `closed` is called when the stream ends, for any reason. */
  make: (session: string, closed: () => void) => Stream
}

/** The streams of all sessions with one target, in this worker and in others. */
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

  /** Finds the stream of a session in any worker, or opens one: a session has only one stream. */
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
