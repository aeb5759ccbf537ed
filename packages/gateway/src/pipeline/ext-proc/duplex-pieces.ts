import type { HeaderBlock } from '@portico/http'
import { bodyMessage, trailersMessage } from './messages.ts'
import { bufferOf } from './mutation.ts'
import { MAX_PIECE, StreamedBody } from './streamed-body.ts'
import type { Answer } from './talk.ts'

/** `FullDuplexStreamed`: the processor sends the new body back at its own pace. */
export class DuplexPieces extends StreamedBody {
  readonly keepsPieces = false

  give(chunk: Buffer): void {
    this.hasGiven = true
    for (let at = 0; at < chunk.length; at += MAX_PIECE) {
      this.talk.say(bodyMessage(this.side.name, chunk.subarray(at, at + MAX_PIECE), false))
    }
  }

  giveEnd(trailers: HeaderBlock | null): void {
    this.hasGiven = true
    if (trailers === null || trailers.size === 0) this.talk.say(bodyMessage(this.side.name, EMPTY, true))
    else {
      this.trailers = trailers
      this.talk.say(trailersMessage(this.side.name, trailers))
    }
    this.talk.changed()
  }

  protected takePiece({ common }: Answer): boolean {
    const mutation = common?.bodyMutation?.mutation
    // Answers to pieces of a body that was replaced or ended are late, not wrong.
    if (this.body.isDone) return true
    if (mutation?.$case !== 'streamedResponse') {
      this.talk.fail('the processor answered a full-duplex body without streamed_response')
      return true
    }
    const { body, endOfStream } = mutation.value
    this.body.take(bufferOf(body))
    // A body with trailers ends with the response to the trailers.
    if (endOfStream && this.trailers === null) this.body.takeEnd(null)
    return true
  }
}

const EMPTY = Buffer.alloc(0)
