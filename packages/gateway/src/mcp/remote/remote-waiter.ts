import type { Waiter } from '../conversation.ts'
import type { RpcMessage } from '../protocol.ts'
import type { TargetFailure } from '../transport.ts'
import type { Flow } from '../flow.ts'

/** A message to the worker of a call that runs in another thread; `isLast`, `closed` or `failed` ends the call. */
export type CallAnswer =
  | { kind: 'said'; call: number; text: string; isLast: boolean; isOfMany?: true }
  | { kind: 'closed'; call: number }
  | { kind: 'failed'; call: number; failure: TargetFailure }

/** Sends messages of a target to a waiter in another thread, within a send window. */
export class RemoteWaiter implements Waiter {
  /** Counts the queued bytes; null when they are not counted. */
  flow: Flow | null = null
  readonly #call: number
  readonly #post: (message: CallAnswer) => void
  readonly #over: () => void
  readonly #held: QueuedMessage[] = []
  #heldBytes = 0
  #unread = 0
  #last: CallAnswer | null = null

  /** `over` is called after the last message. */
  constructor(call: number, post: (message: CallAnswer) => void, over: () => void) {
    this.#call = call
    this.#post = post
    this.#over = over
  }

  message(message: RpcMessage): void {
    this.#say(message, false)
  }

  response(message: RpcMessage): void {
    this.#say(message, true)
  }

  closed(): void {
    this.#end({ kind: 'closed', call: this.#call })
  }

  failed(failure: TargetFailure): void {
    this.#end({ kind: 'failed', call: this.#call, failure })
  }

  /** Called with the bytes that the other side has processed, which opens the window again. */
  took(bytes: number): void {
    this.#unread -= bytes
    while (this.#unread < WINDOW_BYTES) {
      const said = this.#held.shift()
      if (said === undefined) break
      this.#hold(-said.bytes)
      this.#send(said)
    }
    if (this.#held.length === 0 && this.#last !== null) this.#finish(this.#last)
  }

  /** Drops the queue. */
  drop(): void {
    this.#held.length = 0
    this.#hold(-this.#heldBytes)
  }

  #say({ bytes, isOfMany }: RpcMessage, isLast: boolean): void {
    const said = { text: bytes.toString('utf8'), bytes: bytes.length, isLast, ...(isOfMany && { isOfMany }) }
    if (this.#held.length === 0 && this.#unread < WINDOW_BYTES) return this.#send(said)
    this.#held.push(said)
    this.#hold(said.bytes)
  }

  #send({ bytes, ...said }: QueuedMessage): void {
    this.#unread += bytes
    this.#post({ kind: 'said', call: this.#call, ...said })
    if (said.isLast) this.#over()
  }

  #end(last: CallAnswer): void {
    if (this.#held.length === 0) this.#finish(last)
    else this.#last = last
  }

  #finish(last: CallAnswer): void {
    this.#post(last)
    this.#over()
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes
    this.flow?.changed(bytes)
  }
}

interface QueuedMessage {
  text: string
  bytes: number
  isLast: boolean
  isOfMany?: true
}

const WINDOW_BYTES = 256 * 1024
