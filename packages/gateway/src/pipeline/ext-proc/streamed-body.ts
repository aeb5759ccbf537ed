import type { HeaderBlock } from '@portico/http'
import { InvalidHeader } from '../policy/header-edit.ts'
import { type BodyPeer, DuplexBody } from './duplex-body.ts'
import { changedTrailers } from './mutation.ts'
import type { Side } from './side.ts'
import type { Answer, Talk } from './talk.ts'

/** The body of one direction, which goes to the processor in pieces, followed by its trailers. */
export abstract class StreamedBody implements BodyPeer {
  abstract readonly keepsPieces: boolean
  readonly body: DuplexBody
  protected readonly side: Side
  protected readonly talk: Talk
  /** Trailers sent to the processor and not answered yet. */
  protected trailers: HeaderBlock | null = null
  /** Whether the processor got bytes of the body, or its end. */
  protected hasGiven = false
  #hasHeard = false
  #firstHeard: (() => void) | null = null

  /** Takes the place of the body that is there. */
  constructor(side: Side, talk: Talk) {
    this.side = side
    this.talk = talk
    this.body = new DuplexBody(side.body, this)
    side.body = this.body
    side.buffered = null
  }

  get isBlocked(): boolean {
    return this.talk.isBlocked
  }

  /** The processor owes a response. */
  get isOwed(): boolean {
    return this.body.isOwed
  }

  abstract give(chunk: Buffer): void
  abstract giveEnd(trailers: HeaderBlock | null): void
  /** A piece of the new body comes back; false when none is due. */
  protected abstract takePiece(answer: Answer): boolean

  /**
   * Settles with the first answer about the body, so that a refusal still can be an answer of its own. Undefined when the
   * processor has got nothing of the body so far: a head without a body yet must not wait.
   */
  firstAnswer(): Promise<void> | undefined {
    if (!this.hasGiven || this.#hasHeard) return undefined
    return new Promise((resolve) => (this.#firstHeard = resolve))
  }

  take(answer: Answer): boolean {
    const isDue = this.takePiece(answer)
    this.#heard()
    return isDue
  }

  /** False when no trailers were sent. */
  takeTrailers({ mutation }: Answer): boolean {
    if (this.trailers === null) return false
    const changed = changedTrailers(this.trailers, mutation)
    if (changed instanceof InvalidHeader) this.talk.refuse(changed)
    else this.body.takeEnd(changed)
    this.#heard()
    return true
  }

  /** Replaces the whole body by these bytes; responses to pieces of the old body are ignored. */
  replace(bytes: Buffer): void {
    this.body.take(bytes)
    this.body.takeEnd(null)
    this.#heard()
  }

  /** Called when the head is final: the new body may follow. */
  release(): void {}

  /** Passes the rest of the body unchanged once the processor is gone. */
  over(): void {
    this.body.pass()
    this.#heard()
  }

  lost(cause: Error): void {
    const reply = this.side.brokenOff(cause)
    if (reply !== null) this.talk.stop(reply)
  }

  changed(): void {
    this.talk.changed()
  }

  #heard(): void {
    this.#hasHeard = true
    const firstHeard = this.#firstHeard
    this.#firstHeard = null
    firstHeard?.()
  }
}

/** gRPC servers accept messages of at most 4 MB by default. */
export const MAX_PIECE = 1_048_576
