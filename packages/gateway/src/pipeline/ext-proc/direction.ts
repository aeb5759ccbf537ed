import type { CommonResponse } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import { AnsweredPieces } from './answered-pieces.ts'
import { Dialogue } from './dialogue.ts'
import { DuplexPieces } from './duplex-pieces.ts'
import { KeptPieces } from './kept-pieces.ts'
import { headersMessage, newBody } from './messages.ts'
import type { DirectionModes } from './modes.ts'
import { PassingBody } from './passing-body.ts'
import { processRead, type ReadUse } from './read-body.ts'
import type { Side } from './side.ts'
import type { StreamedBody } from './streamed-body.ts'
import type { Answer, Part, Talk } from './talk.ts'

/** One direction of an exchange. Its parts go to the processor one after the other, and its responses change them. */
export class Direction {
  readonly #side: Side
  readonly #talk: Talk
  readonly #dialogue: Dialogue
  #streamed: StreamedBody | null = null
  /** Whether the rest of the body passes without the processor, and has not ended yet. */
  #isPassing = false
  #isRunning = true

  constructor(side: Side, talk: Talk) {
    this.#side = side
    this.#talk = talk
    this.#dialogue = new Dialogue(side, talk)
  }

  /** Whether the processor holds bytes of the body, so that the exchange cannot continue without it. */
  get isGivenAway(): boolean {
    return this.#streamed !== null && this.#streamed.body.isGivenAway
  }

  /** Whether the processor must send the next message. */
  get isOwed(): boolean {
    const streamed = this.#streamed
    if (streamed !== null && !streamed.body.isDone) return streamed.isOwed && !streamed.body.isFull
    return this.#dialogue.isWaiting
  }

  get isFull(): boolean {
    return this.#streamed !== null && this.#streamed.body.isFull
  }

  get isDone(): boolean {
    return !this.#isRunning && !this.#isPassing && (this.#streamed === null || this.#streamed.body.isDone)
  }

  /** Ends when the head is final. */
  async run(): Promise<void> {
    try {
      const side = this.#side
      const { sendsHeaders, body } = this.#modes
      const hasBody = side.hasBody
      if (!sendsHeaders && !(hasBody && body !== 'None') && !this.#mayHaveTrailers) return
      const opening = this.#talk.open()
      if (opening !== null) await opening
      if (this.#talk.isOver) return
      const streams = hasBody && body === 'FullDuplexStreamed'
      if (sendsHeaders) {
        this.#talk.say(headersMessage(side, !hasBody))
        if (streams) this.#stream(this.#duplexPieces())
        const answer = await this.#dialogue.answer('headers')
        if (answer === null) return
        if (!this.#dialogue.use('headers', answer)) return
        if (this.#replaced(answer.common)) return
      } else if (streams) this.#stream(this.#duplexPieces())
      const rest = this.#streamed !== null ? this.#commit(this.#streamed) : hasBody ? this.#processBody() : undefined
      if (rest !== undefined) await rest
    } finally {
      this.#isRunning = false
      this.#talk.changed()
    }
  }

  /** Returns false when no message waits for this response. */
  heard(part: Part, answer: Answer): boolean {
    if (this.#dialogue.heard(part, answer)) return true
    const takesBody = !this.#dialogue.isWaiting || this.#talk.isLenient
    if (part === 'body' && takesBody && this.#streamed !== null) return this.#streamed.take(answer)
    return part === 'trailers' && this.#streamed !== null && this.#streamed.takeTrailers(answer)
  }

  /** The processor is gone: everything passes unchanged. */
  over(): void {
    this.#dialogue.over()
    this.#streamed?.over()
  }

  drained(): void {
    this.#streamed?.body.drained()
  }

  get #modes(): DirectionModes {
    return this.#talk.modes(this.#side.name)
  }

  /** None follow a body of known length. */
  get #mayHaveTrailers(): boolean {
    return this.#side.hasBody && this.#modes.sendsTrailers && this.#side.body.length === -1
  }

  #processBody(): Promise<void> | undefined {
    switch (this.#modes.body) {
      case 'None':
        if (this.#mayHaveTrailers) this.#watchTrailers()
        return undefined
      case 'Buffered':
        return this.#read('whole')
      case 'BufferedPartial':
        return this.#read('prefix')
      case 'Streamed':
        return this.#commit(this.#stream(new AnsweredPieces(this.#side, this.#talk)))
      case 'FullDuplexStreamed':
        return this.#commit(this.#stream(this.#duplexPieces()))
    }
  }

  async #read(use: ReadUse): Promise<void> {
    const passes = await processRead(use, this.#side, this.#talk, this.#dialogue)
    if (passes && this.#mayHaveTrailers) this.#watchTrailers()
  }

  /** Starts to send the body at once, without waiting for the response to the head. */
  #stream(streamed: StreamedBody): StreamedBody {
    this.#streamed = streamed
    streamed.body.start()
    return streamed
  }

  /**
   * The head goes on without a length. The head of a response waits for the first answer about its body, where some of the
   * body is with the processor: once the head is on the wire, a refusal can only cut the connection.
   */
  #commit(streamed: StreamedBody): Promise<void> | undefined {
    // The processor may have left meanwhile, without having got anything.
    if (this.#talk.isOver) return undefined
    streamed.body.commit()
    streamed.release()
    this.#side.message.headers.remove('content-length')
    return this.#side.name === 'response' ? streamed.firstAnswer() : undefined
  }

  #duplexPieces(): StreamedBody {
    return this.#talk.isLenient ? new KeptPieces(this.#side, this.#talk) : new DuplexPieces(this.#side, this.#talk)
  }

  /** Passes the body unchanged, and sends only its trailers to the processor. */
  #watchTrailers(): void {
    this.#isPassing = true
    this.#side.body = new PassingBody(this.#side.body, {
      trailers: (trailers, then) => {
        if (this.#talk.isOver) return then(trailers)
        this.#side.follow(this.#dialogue.askTrailers(trailers).then(then))
      },
      over: () => {
        this.#isPassing = false
        this.#talk.changed()
      },
    })
  }

  /** The answer to the head may be the last word on the body too: a new body, or none, which leaves it as it is. */
  #replaced(common: CommonResponse | undefined): boolean {
    if (common?.status !== REPLACE) return false
    const bytes = newBody(common.bodyMutation)
    if (this.#streamed === null) {
      if (bytes !== null && bytes !== 'piece') this.#side.message.replaceBody(() => bytes)
      return true
    }
    // Without a new body, the one that is with the processor already has to come back.
    if (bytes !== null && bytes !== 'piece') this.#streamed.replace(bytes)
    return false
  }
}

const REPLACE = 1
