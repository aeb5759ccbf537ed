import type { HeaderBlock } from '../../../net/header-block.ts'
import { type BodyPeer, DuplexBody } from './duplex-body.ts'
import { bodyMessage, trailersMessage } from './messages.ts'
import { bufferOf, changedTrailers } from './mutation.ts'
import type { Side } from './side.ts'
import type { Answer, Talk } from './talk.ts'

/** The body of one direction, which goes to the processor piece by piece, and its trailers after it. */
export class StreamedBody implements BodyPeer {
  readonly body: DuplexBody
  readonly #side: Side
  readonly #talk: Talk
  /** Given away, until the answer to them comes. */
  #trailers: HeaderBlock | null = null

  /** Takes the place of the body that is there. */
  constructor(side: Side, talk: Talk) {
    this.#side = side
    this.#talk = talk
    this.body = new DuplexBody(side.body, this)
    side.body = this.body
    side.buffered = null
  }

  get isBlocked(): boolean {
    return this.#talk.isBlocked
  }

  give(chunk: Buffer): void {
    // Servers take 4 MB at most unless they are told otherwise.
    for (let at = 0; at < chunk.length; at += MAX_PIECE) {
      this.#talk.say(bodyMessage(this.#side.name, chunk.subarray(at, at + MAX_PIECE), false))
    }
  }

  giveEnd(trailers: HeaderBlock | null): void {
    if (trailers === null || trailers.size === 0) this.#talk.say(bodyMessage(this.#side.name, EMPTY, true))
    else {
      this.#trailers = trailers
      this.#talk.say(trailersMessage(this.#side.name, trailers))
    }
    this.#talk.changed()
  }

  lost(cause: Error): void {
    const reply = this.#side.brokenOff(cause)
    if (reply !== null) this.#talk.stop(reply)
  }

  changed(): void {
    this.#talk.changed()
  }

  /** A piece of the new body comes back. */
  take({ common }: Answer): true {
    const mutation = common?.bodyMutation?.mutation
    if (mutation?.$case !== 'streamedResponse') {
      this.#talk.fail('a streamed body was answered without streamed_response')
      return true
    }
    const { body, endOfStream } = mutation.value
    this.body.take(bufferOf(body))
    // With trailers behind it, the body ends where they are answered.
    if (endOfStream && this.#trailers === null) this.body.takeEnd(null)
    return true
  }

  /** False when there were none to answer to. */
  takeTrailers({ mutation }: Answer): boolean {
    if (this.#trailers === null) return false
    this.body.takeEnd(changedTrailers(this.#trailers, mutation))
    return true
  }
}

const EMPTY = Buffer.alloc(0)
const MAX_PIECE = 1_048_576
