import { sourceOf } from '../../../net/body.ts'
import type { HeaderBlock } from '../../../net/header-block.ts'
import { wholeBody } from '../../../pipeline/body/body-use.ts'
import { Reply } from '../../../pipeline/reply.ts'
import type { CommonResponse } from '../../../wire/protos/envoy/service/ext_proc/v3/external_processor.ts'
import { bodyMessage, headersMessage, newBody, trailersMessage } from './messages.ts'
import type { DirectionModes } from './modes.ts'
import { applyMutation, changedTrailers } from './mutation.ts'
import { PassingBody } from './passing-body.ts'
import type { Side } from './side.ts'
import { StreamedBody } from './streamed-body.ts'
import type { Answer, Part, Talk } from './talk.ts'

/** One direction of an exchange: its parts go to the processor one after the other, and change as it says. */
export class Direction {
  readonly #side: Side
  readonly #talk: Talk
  #expected: { part: Part; then: (answer: Answer | null) => void } | null = null
  #streamed: StreamedBody | null = null
  /** Bytes of the body pass, and their end is waited for. */
  #isPassing = false
  #isRunning = true

  constructor(side: Side, talk: Talk) {
    this.#side = side
    this.#talk = talk
  }

  /** The processor has what is needed to go on without it. */
  get isGivenAway(): boolean {
    return this.#streamed !== null && this.#streamed.body.isGivenAway
  }

  /** It is the processor's turn to speak. */
  get isOwed(): boolean {
    const body = this.#streamed?.body ?? null
    if (body !== null && !body.isDone) return body.isOwed && !body.isFull
    return this.#expected !== null
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
    const expected = this.#expected
    if (expected !== null && expected.part === part) {
      this.#expected = null
      expected.then(answer)
      return true
    }
    if (part === 'body' && expected === null && this.#streamed !== null) return this.#streamed.take(answer)
    return part === 'trailers' && this.#streamed !== null && this.#streamed.takeTrailers(answer)
  }

  /** There is no processor any more: everything goes on as it is. */
  over(): void {
    const expected = this.#expected
    this.#expected = null
    expected?.then(null)
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
      const answer = await this.#answer('headers')
      if (answer === null) return
      this.#use('headers', answer)
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
        return this.#processRead('whole')
      case 'BufferedPartial':
        return this.#processRead('prefix')
      case 'FullDuplexStreamed':
        return this.#commit(this.#stream())
    }
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

  // Bodies that are read first.

  async #processRead(use: 'whole' | 'prefix'): Promise<void> {
    const side = this.#side
    const refusal = await side.read(use, this.#talk.maxBufferBytes)
    if (refusal instanceof Reply) return this.#talk.stop(refusal)
    const { whole = null, prefix = EMPTY, trailers = null } = side.buffered ?? {}
    const asksTrailers = whole !== null && trailers !== null && this.#modes.sendsTrailers
    this.#talk.say(bodyMessage(side.name, whole ?? prefix, whole !== null && !asksTrailers))
    const answer = await this.#answer('body')
    if (answer === null) return
    this.#use('body', answer)
    const bytes = newBody(answer.common?.bodyMutation)
    if (bytes === 'piece') return this.#talk.fail('a body that was sent whole was answered with a piece of a stream')
    if (whole === null) return this.#replaceStart(bytes, prefix.length)
    if (asksTrailers) await this.#changeTrailers(trailers)
    if (bytes !== null) side.message.replaceBody(() => bytes)
  }

  #replaceStart(bytes: Buffer | null, replaces: number): void {
    const side = this.#side
    if (bytes !== null) {
      side.body = new PassingBody(side.body, { start: { bytes, replaces } })
      side.buffered = null
      side.message.headers.remove('content-length')
    }
    if (this.#mayHaveTrailers) this.#watchTrailers()
  }

  async #changeTrailers(trailers: HeaderBlock): Promise<void> {
    const side = this.#side
    this.#talk.say(trailersMessage(this.#side.name, trailers))
    const answer = await this.#answer('trailers')
    const bytes = side.buffered?.whole ?? null
    if (answer === null || bytes === null) return
    const changed = changedTrailers(trailers, answer.mutation)
    side.body = sourceOf(bytes, changed)
    side.buffered = wholeBody(bytes, changed)
  }

  /** The body goes on as it is; what follows it is for the processor. */
  #watchTrailers(): void {
    this.#isPassing = true
    this.#side.body = new PassingBody(this.#side.body, {
      trailers: (trailers, then) => {
        if (this.#talk.isOver) return then(trailers)
        this.#talk.say(trailersMessage(this.#side.name, trailers))
        void this.#answer('trailers').then((answer) =>
          then(answer === null ? trailers : changedTrailers(trailers, answer.mutation)),
        )
      },
      over: () => {
        this.#isPassing = false
        this.#talk.changed()
      },
    })
  }

  /** Null when there is no processor any more. */
  #answer(part: Part): Promise<Answer | null> {
    if (this.#talk.isOver) return Promise.resolve(null)
    return new Promise((then) => {
      this.#expected = { part, then }
      this.#talk.asked()
      this.#talk.changed()
    })
  }

  #use(about: Part, answer: Answer): void {
    const { message, part } = this.#side
    this.#talk.noted(about, answer, applyMutation(answer.common?.headerMutation, message, part))
  }

  /** The answer to the head may have the whole body already. */
  #replaced(common: CommonResponse | undefined): boolean {
    const bytes = common?.status === REPLACE && this.#streamed === null ? newBody(common.bodyMutation) : null
    if (bytes === null || bytes === 'piece') return false
    this.#side.message.replaceBody(() => bytes)
    return true
  }
}

const EMPTY = Buffer.alloc(0)
const REPLACE = 1
