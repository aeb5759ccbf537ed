import type { CommonResponse } from '../../../wire/protos/envoy/service/ext_proc/v3/external_processor.ts'
import { Dialogue } from './dialogue.ts'
import { headersMessage, newBody } from './messages.ts'
import type { DirectionModes } from './modes.ts'
import { PassingBody } from './passing-body.ts'
import { processRead, type ReadUse } from './read-body.ts'
import type { Side } from './side.ts'
import { StreamedBody } from './streamed-body.ts'
import type { Answer, Part, Talk } from './talk.ts'

/** One direction of an exchange: its parts go to the processor one after the other, and change as it says. */
export class Direction {
  readonly #side: Side
  readonly #talk: Talk
  readonly #dialogue: Dialogue
  #streamed: StreamedBody | null = null
  /** Bytes of the body pass, and their end is waited for. */
  #isPassing = false
  #isRunning = true

  constructor(side: Side, talk: Talk) {
    this.#side = side
    this.#talk = talk
    this.#dialogue = new Dialogue(side, talk)
  }

  /** The processor has what is needed to go on without it. */
  get isGivenAway(): boolean {
    return this.#streamed !== null && this.#streamed.body.isGivenAway
  }

  /** It is the processor's turn to speak. */
  get isOwed(): boolean {
    const body = this.#streamed?.body ?? null
    if (body !== null && !body.isDone) return body.isOwed && !body.isFull
    return this.#dialogue.isWaiting
  }

  get isFull(): boolean {
    return this.#streamed !== null && this.#streamed.body.isFull
  }

  get isDone(): boolean {
    return !this.#isRunning && !this.#isPassing && (this.#streamed === null || this.#streamed.body.isDone)
  }

  async run(): Promise<void> {
    try {
      await this.#process()
    } finally {
      this.#isRunning = false
      this.#talk.changed()
    }
  }

  /** False when nothing was asked that this could be the answer to. */
  heard(part: Part, answer: Answer): boolean {
    if (this.#dialogue.heard(part, answer)) return true
    if (part === 'body' && !this.#dialogue.isWaiting && this.#streamed !== null) return this.#streamed.take(answer)
    return part === 'trailers' && this.#streamed !== null && this.#streamed.takeTrailers(answer)
  }

  /** There is no processor any more: everything goes on as it is. */
  over(): void {
    this.#dialogue.over()
    this.#streamed?.body.pass()
  }

  drained(): void {
    this.#streamed?.body.drained()
  }

  async #process(): Promise<void> {
    const side = this.#side
    const { sendsHeaders, body } = this.#modes
    const hasBody = side.hasBody
    const streams = hasBody && body === 'FullDuplexStreamed'
    if (!sendsHeaders && !(hasBody && body !== 'None') && !this.#mayHaveTrailers) return
    await this.#talk.open()
    if (this.#talk.isOver) return
    if (sendsHeaders) {
      this.#talk.say(headersMessage(side, !hasBody))
      if (streams) this.#stream()
      const answer = await this.#dialogue.answer('headers')
      if (answer === null) return
      this.#dialogue.use('headers', answer)
      if (this.#replaced(answer.common)) return
    } else if (streams) this.#stream()
    if (this.#streamed !== null) return this.#commit(this.#streamed)
    if (hasBody) await this.#processBody()
  }

  get #modes(): DirectionModes {
    return this.#talk.modes(this.#side.name)
  }

  /** None follow a body of known length. */
  get #mayHaveTrailers(): boolean {
    return this.#side.hasBody && this.#modes.sendsTrailers && this.#side.body.length === -1
  }

  async #processBody(): Promise<void> {
    switch (this.#modes.body) {
      case 'None':
        if (this.#mayHaveTrailers) this.#watchTrailers()
        return
      case 'Buffered':
        return this.#read('whole')
      case 'BufferedPartial':
        return this.#read('prefix')
      case 'FullDuplexStreamed':
        return this.#commit(this.#stream())
    }
  }

  async #read(use: ReadUse): Promise<void> {
    const passes = await processRead(use, this.#side, this.#talk, this.#dialogue)
    if (passes && this.#mayHaveTrailers) this.#watchTrailers()
  }

  /** The processor need not have answered before: what comes is given away at once. */
  #stream(): StreamedBody {
    const streamed = new StreamedBody(this.#side, this.#talk)
    this.#streamed = streamed
    streamed.body.start()
    return streamed
  }

  #commit({ body }: StreamedBody): void {
    // The processor may have left meanwhile, without having got anything.
    if (this.#talk.isOver) return
    body.commit()
    this.#side.message.headers.remove('content-length')
  }

  /** The body goes on as it is; what follows it is for the processor. */
  #watchTrailers(): void {
    this.#isPassing = true
    this.#side.body = new PassingBody(this.#side.body, {
      trailers: (trailers, then) => {
        if (this.#talk.isOver) return then(trailers)
        void this.#dialogue.askTrailers(trailers).then(then)
      },
      over: () => {
        this.#isPassing = false
        this.#talk.changed()
      },
    })
  }

  /** The answer to the head may have the whole body already. */
  #replaced(common: CommonResponse | undefined): boolean {
    const bytes = common?.status === REPLACE && this.#streamed === null ? newBody(common.bodyMutation) : null
    if (bytes === null || bytes === 'piece') return false
    this.#side.message.replaceBody(() => bytes)
    return true
  }
}

const REPLACE = 1
