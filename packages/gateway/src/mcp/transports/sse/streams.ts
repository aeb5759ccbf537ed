import type { Caller } from '../transport.ts'
import { OtherWorkerStream } from './other-worker-stream.ts'
import { OwnStream } from './own-stream.ts'
import type { SseServices } from './post.ts'
import type { SessionStream } from './stream.ts'
import { hostStream } from './stream-host.ts'

/** The streams of all sessions with one target: those of this worker, and the way to those of others. */
export class SessionStreams {
  readonly #services: SseServices
  readonly #own = new Map<string, OwnStream>()

  constructor(services: SseServices) {
    this.#services = services
  }

  find(session: string): SessionStream {
    return this.#own.get(session) ?? new OtherWorkerStream(this.#services.hub, this.#addressOf(session))
  }

  /** A session has one stream, also when two workers begin anew with it. */
  findOrOpen(session: string, caller: Caller, found: (stream: SessionStream) => void): void {
    const known = this.find(session)
    if (known instanceof OwnStream) return found(known)
    known.where((endpoint) =>
      found(endpoint === null ? (this.#own.get(session) ?? this.#open(session, caller)) : known),
    )
  }

  #open(session: string, caller: Caller): OwnStream {
    const stream = new OwnStream(this.#services, () => {
      if (this.#own.get(session) === stream) this.#own.delete(session)
      unhost()
    })
    this.#own.set(session, stream)
    const unhost = hostStream(stream, this.#addressOf(session), this.#services.hub)
    stream.open(caller)
    return stream
  }

  #addressOf(session: string): string {
    return `sse:${session}:${this.#services.key}`
  }
}
