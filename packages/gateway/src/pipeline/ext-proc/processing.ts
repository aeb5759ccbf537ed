import { InvalidHeader } from '../policy/header-edit.ts'
import type { Reply } from '../context/reply.ts'
import type { OpenCall } from '../context/request-context.ts'
import { DEADLINE_EXCEEDED, GrpcError, INTERNAL, type StreamHandler } from '@portico/http/grpc'
import type {
  ImmediateResponse,
  ProcessingResponse,
} from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import type { Duration } from '../../protos/google/protobuf/duration.ts'
import { Directions } from './directions.ts'
import { hasContext, type RequestPart } from './messages.ts'
import { type DirectionModes, type Modes, overridden } from './modes.ts'
import { type HeaderChanges, immediateReply } from './mutation.ts'
import { Patience } from './patience.ts'
import type { ProcessedExchange } from './processed-exchange.ts'
import type { ProcessingSettings, Stream } from './processing-settings.ts'
import type { Side } from './side.ts'
import type { Answer, Part, Talk } from './talk.ts'

/** The stream between one request and its processor, opened with the first message. */
export class Processing implements Talk, OpenCall, StreamHandler<ProcessingResponse> {
  readonly #exchange: ProcessedExchange
  readonly #settings: ProcessingSettings
  readonly #directions = new Directions()
  readonly #patience: Patience
  #modes: Modes
  #stream: Stream | null = null
  /** Says how the step that runs at the moment ends. */
  #step: ((reply: Reply | void) => void) | null = null
  #hasSpoken = false
  #isBlocked = false
  #isHeld = false
  /** Whether all messages were sent; only the end of the stream is missing. */
  #isFinished = false
  #isOver = false

  constructor(exchange: ProcessedExchange, settings: ProcessingSettings) {
    this.#exchange = exchange
    this.#settings = settings
    this.#modes = settings.modes
    this.#patience = new Patience(settings, () => this.#timedOut())
  }

  get isOver(): boolean {
    return this.#isOver || this.#isFinished
  }

  get isBlocked(): boolean {
    return this.#isBlocked
  }

  get isLenient(): boolean {
    return this.#settings.isLenient
  }

  get maxBufferBytes(): number {
    return this.#settings.maxBufferBytes
  }

  /** Processes one direction until its head is final; a streamed body continues after that. */
  run(side: Side): Promise<Reply | void> {
    const direction = this.#directions.begin(side, this)
    return new Promise((resolve, reject) => {
      this.#step = resolve
      direction.run().then(() => this.#endStep(undefined), reject)
    })
  }

  open(): Promise<void> | null {
    if (this.#stream !== null) return null
    const stream = this.#settings.connect(this.#exchange.rx, this)
    if (stream instanceof Promise) return stream.then((opened) => this.#opened(opened))
    this.#opened(stream)
    return null
  }

  /** The client may have left meanwhile, or the stream may be over already. */
  #opened(stream: Stream): void {
    if (this.#isOver) stream.drop()
    else this.#stream = stream
  }

  modes(name: Side['name']): DirectionModes {
    return this.#modes[name]
  }

  say(part: RequestPart): void {
    const stream = this.#stream
    if (stream === null || this.isOver) return
    const isFirst = !this.#hasSpoken
    this.#hasSpoken = true
    const context = hasContext(part, isFirst) ? this.#exchange.context(part.name) : null
    if (!stream.send({ part, context, modes: isFirst ? this.#modes : null, isObserved: false })) this.#isBlocked = true
    this.#watch(false)
  }

  asked(): void {
    this.#patience.asked()
  }

  noted(part: Part, { common, metadata, override }: Answer, changed: HeaderChanges): void {
    const exchange = this.#exchange
    if (metadata !== undefined) exchange.gotMetadata(metadata)
    const isOverridden = override !== undefined && part === 'headers' && this.#settings.allowModeOverride
    if (isOverridden) this.#modes = overridden(this.#modes, override)
    exchange.note(() => ({
      code: 'processed',
      [part]: { ...changed, body: common?.bodyMutation?.mutation?.$case ?? null },
      ...(metadata !== undefined && { metadata: Object.keys(metadata) }),
      ...(isOverridden && { modes: this.#modes }),
    }))
  }

  stop(reply: Reply): void {
    if (this.#isOver) return
    this.#drop()
    this.#endWith(reply)
  }

  /** The processor or the connection to it failed. `detail` goes to the log and not to clients. */
  fail(why: string, detail: string | null = null): void {
    this.#end(why, detail, this.#exchange.canGoOn && !this.#directions.isGivenAway)
  }

  refuse({ message }: InvalidHeader): void {
    this.#end(message, null, false)
  }

  #end(why: string, detail: string | null, goesOn: boolean): void {
    if (this.#isOver) return
    this.#patience.record(why === TOO_LATE ? 'timeout' : 'failed', this.#exchange.rx)
    this.#drop(new GrpcError(why === TOO_LATE ? DEADLINE_EXCEEDED : INTERNAL, why))
    const cause = detail === null ? why : `${why}: ${detail}`
    this.#exchange.processorFailed(cause, goesOn, this.#step !== null)
    if (goesOn) return this.#directions.over()
    this.#endWith(this.#exchange.failureReply(why, cause))
  }

  changed(): void {
    if (this.isOver) return
    const isHeld = this.#directions.isFull
    if (isHeld !== this.#isHeld) {
      this.#isHeld = isHeld
      if (isHeld) this.#stream?.hold()
      else this.#stream?.proceed()
    }
    if (this.#directions.hasNothingLeft(this.#modes)) this.#finish()
    else this.#watch(false)
  }

  close(cause: Error | null): void {
    if (this.isOver) return
    if (cause === null && this.#directions.isDone) this.#finish()
    else this.#drop()
  }

  // From the stream.

  message(received: ProcessingResponse): void {
    if (this.isOver) return
    const { response, overrideMessageTimeout } = received
    if (overrideMessageTimeout !== undefined) return this.#extend(overrideMessageTimeout)
    this.#patience.record('answered', this.#exchange.rx)
    this.#watch(true)
    if (response === undefined) return this.fail('the processor sent an empty response')
    if (response.$case === 'immediateResponse') return this.#answerAtOnce(response.value, received.dynamicMetadata)
    if (!this.#directions.hear(response, received))
      this.fail('the processor sent an unexpected response', response.$case)
  }

  drained(): void {
    this.#isBlocked = false
    this.#watch(true)
    this.#directions.drained()
  }

  /** A processor that ends the stream without an error is done: the remaining parts pass unchanged. */
  ended(error: GrpcError | null): void {
    if (this.#isOver) return
    if (this.#isFinished) return this.#drop()
    if (error !== null) return this.fail('the call to the processor failed', `${error.message} (code ${error.code})`)
    if (this.#directions.isGivenAway) return this.fail('the processor ended within a body')
    this.#drop()
    if (this.#step !== null) this.#exchange.note(() => ({ code: 'ended_by_processor' }))
    this.#directions.over()
  }

  /** Such a message has no other effect. */
  #extend({ seconds, nanos }: Duration): void {
    const timeoutMs = seconds * 1000 + nanos / 1e6
    const isInBounds = timeoutMs >= 1 && timeoutMs <= this.#settings.maxTimeoutMs
    const code = isInBounds && this.#patience.extend(timeoutMs) ? 'timeout_extended' : 'timeout_kept'
    this.#exchange.note(() => ({ code, timeoutMs }))
  }

  #answerAtOnce(response: ImmediateResponse, metadata: Answer['metadata']): void {
    const exchange = this.#exchange
    if (metadata !== undefined) exchange.gotMetadata(metadata)
    const reply = immediateReply(response, exchange.rx)
    if (reply instanceof InvalidHeader) return this.refuse(reply)
    exchange.processorAnswered(reply, response.details, this.#step !== null)
    this.#drop()
    this.#endWith(reply)
  }

  /** A waiting step returns the reply. */
  #endWith(reply: Reply): void {
    if (this.#step !== null) this.#endStep(reply)
    else this.#exchange.interrupt(reply)
  }

  #endStep(reply: Reply | undefined): void {
    const step = this.#step
    this.#step = null
    step?.(reply)
  }

  #finish(): void {
    this.#isFinished = true
    if (this.#stream === null) return this.#drop()
    this.#stream.finish()
    this.#patience.start()
  }

  #drop(cause?: GrpcError): void {
    this.#isOver = true
    this.#patience.record('cancelled', this.#exchange.rx)
    this.#patience.stop()
    this.#stream?.drop(cause)
  }

  #watch(isProgress: boolean): void {
    if (this.isOver) return
    this.#patience.watch(!this.#isHeld && (this.#isBlocked || this.#directions.isOwed), isProgress)
  }

  #timedOut(): void {
    if (this.#isFinished) this.#drop()
    else this.fail(TOO_LATE)
  }
}

const TOO_LATE = 'no answer in time'
