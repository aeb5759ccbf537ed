import type { HeaderBlock } from '@portico/http'
import { bodyMessage, newBody } from './messages.ts'
import { MAX_PIECE, StreamedBody } from './streamed-body.ts'
import type { Side } from './side.ts'
import type { Answer, Talk } from './talk.ts'

interface Piece {
  bytes: Buffer
  isEnd: boolean
}

/**
 * A body streamed full duplex to a processor that may also answer a piece without a new body, which returns the piece
 * unchanged. Pieces are kept until the processor streams a new body, so that the old body can continue without the
 * processor. Trailers are not sent to the processor. The last piece of a body of known length carries the end of the
 * body, which saves a message to the processor and its response.
 */
export class KeptPieces extends StreamedBody {
  /** Pieces without an answer; null when the processor streams a new body, or when they exceed the limit. */
  #unanswered: Piece[] | null = []
  /** Pieces that were answered before the head; they wait here, because a full outlet would stop the old body. */
  #early: Piece[] | null = []
  #keptBytes = 0
  #hasPlainAnswers = false
  #inputEnd: { trailers: HeaderBlock | null } | null = null
  /** The bytes of the body that have not arrived; -1 when the body has no known length. */
  #missingBytes: number
  /** Whether the processor has returned the last piece before the end of the old body arrived. */
  #isEndAnswered = false

  constructor(side: Side, talk: Talk) {
    super(side, talk)
    this.#missingBytes = this.body.length
  }

  get keepsPieces(): boolean {
    return this.#unanswered !== null
  }

  override get isBlocked(): boolean {
    return this.talk.isBlocked || (this.#hasPlainAnswers && this.#early === null && this.#keptBytes > MAX_WAITING)
  }

  give(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += MAX_PIECE) {
      const piece = chunk.subarray(at, at + MAX_PIECE)
      if (this.#missingBytes > 0) this.#missingBytes -= piece.length
      this.#send(piece, this.#missingBytes === 0)
    }
  }

  giveEnd(trailers: HeaderBlock | null): void {
    this.#inputEnd = { trailers }
    if (this.#isEndAnswered) this.body.takeEnd(trailers)
    else if (this.#missingBytes !== 0) this.#send(EMPTY, true)
    this.talk.changed()
  }

  protected takePiece({ common }: Answer): boolean {
    // Answers to pieces of a body that was replaced or ended are late, not wrong.
    if (this.body.isDone) return true
    const mutation = common?.bodyMutation
    if (mutation?.mutation?.$case === 'streamedResponse') {
      this.#unanswered = null
      const { body, endOfStream } = mutation.mutation.value
      this.#take({ bytes: Buffer.from(body), isEnd: endOfStream })
      return true
    }
    if (this.#unanswered === null) {
      this.talk.fail('a streamed body was answered without streamed_response')
      return true
    }
    const piece = this.#unanswered.shift()
    if (piece === undefined) return false
    this.#hasPlainAnswers = true
    this.#keptBytes -= piece.bytes.length
    const bytes = newBody(mutation)
    this.#take({ bytes: bytes === null || bytes === 'piece' ? piece.bytes : bytes, isEnd: piece.isEnd })
    this.body.drained()
    this.talk.changed()
    return true
  }

  override release(): void {
    const early = this.#early
    this.#early = null
    for (const piece of early ?? []) this.#take(piece)
  }

  override over(): void {
    this.release()
    for (const { bytes } of this.#unanswered?.splice(0) ?? []) this.body.take(bytes)
    super.over()
  }

  #send(bytes: Buffer, isEnd: boolean): void {
    this.hasGiven = true
    // The memory of a chunk is reused once the caller returns.
    this.#unanswered?.push({ bytes: Buffer.from(bytes), isEnd })
    this.#keptBytes += bytes.length
    if (this.#keptBytes > this.talk.maxBufferBytes) this.#unanswered = null
    this.talk.say(bodyMessage(this.side.name, bytes, isEnd))
  }

  #take(piece: Piece): void {
    if (this.#early !== null) {
      this.#early.push(piece)
      return
    }
    this.body.take(piece.bytes)
    if (!piece.isEnd) return
    // The end of the body is passed on once the trailers arrive, which follow the last byte.
    if (this.#missingBytes === 0 && this.#inputEnd === null) this.#isEndAnswered = true
    else this.body.takeEnd(this.#inputEnd?.trailers ?? null)
  }
}

const EMPTY = Buffer.alloc(0)
/** Bytes that may wait for answers before no more of the body is read. */
const MAX_WAITING = 1_048_576
