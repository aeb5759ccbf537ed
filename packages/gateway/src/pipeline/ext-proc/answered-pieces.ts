import type { HeaderBlock } from '@portico/http'
import { bodyMessage, newBody, trailersMessage } from './messages.ts'
import { MAX_PIECE, StreamedBody } from './streamed-body.ts'
import type { Answer } from './talk.ts'

interface Piece {
  bytes: Buffer
  isEnd: boolean
}

/** `Streamed`: each piece waits until the processor has returned it, unchanged or changed. */
export class AnsweredPieces extends StreamedBody {
  readonly keepsPieces = true
  readonly #waiting: Piece[] = []
  #waitingBytes = 0
  /** Trailers that the processor does not get, and that follow the last piece. */
  #after: HeaderBlock | null = null

  override get isBlocked(): boolean {
    return this.talk.isBlocked || this.#waitingBytes > MAX_WAITING
  }

  override get isOwed(): boolean {
    return this.#waiting.length > 0 || this.trailers !== null
  }

  give(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += MAX_PIECE) {
      // The memory of a chunk is reused once this call returns.
      this.#send({ bytes: Buffer.from(chunk.subarray(at, at + MAX_PIECE)), isEnd: false })
    }
  }

  giveEnd(trailers: HeaderBlock | null): void {
    if (trailers === null || trailers.size === 0) this.#send({ bytes: EMPTY, isEnd: true })
    else if (this.talk.modes(this.side.name).sendsTrailers) {
      this.hasGiven = true
      this.trailers = trailers
      this.talk.say(trailersMessage(this.side.name, trailers))
    } else {
      this.#after = trailers
      this.#endAfterLast()
    }
    this.talk.changed()
  }

  protected takePiece({ common }: Answer): boolean {
    const piece = this.#waiting.shift()
    // Answers to pieces of a body that was replaced or ended are late, not wrong.
    if (piece === undefined) return this.body.isDone
    this.#waitingBytes -= piece.bytes.length
    const bytes = newBody(common?.bodyMutation)
    if (bytes === 'piece') {
      this.talk.fail('streamed_response is valid only for full-duplex bodies')
      return true
    }
    this.body.take(bytes ?? piece.bytes)
    if (piece.isEnd) this.body.takeEnd(null)
    else {
      this.#endAfterLast()
      this.body.drained()
    }
    this.talk.changed()
    return true
  }

  override over(): void {
    for (const { bytes } of this.#waiting.splice(0)) this.body.take(bytes)
    this.#waitingBytes = 0
    super.over()
  }

  #send(piece: Piece): void {
    this.hasGiven = true
    this.#waiting.push(piece)
    this.#waitingBytes += piece.bytes.length
    this.talk.asked()
    this.talk.say(bodyMessage(this.side.name, piece.bytes, piece.isEnd))
  }

  #endAfterLast(): void {
    if (this.#after !== null && this.#waiting.length === 0) this.body.takeEnd(this.#after)
  }
}

const EMPTY = Buffer.alloc(0)
/** Bytes that may wait for answers before no more of the body is read. */
const MAX_WAITING = 1_048_576
