import type { Waiter } from '../conversation.ts'
import type { RpcMessage } from '../message.ts'
import type { TargetFailure } from '../transport.ts'
import type { Flow } from '../flow.ts'

/** What comes of a call that somebody else makes for this worker; over with `isLast`, `closed` or `failed`. */
export type CallAnswer =
  | { kind: 'said'; call: number; text: string; isLast: boolean; isOfMany?: true }
  | { kind: 'closed'; call: number }
  | { kind: 'failed'; call: number; failure: TargetFailure }

/** Somebody in another thread who waits for what a target says. No more is sent ahead than they can hold. */
export class RemoteWaiter implements Waiter {
  /** What is told of messages that have to wait here. */
  flow: Flow | null = null
  readonly #call: number
  readonly #post: (message: CallAnswer) => void
  readonly #over: () => void
  readonly #held: Said[] = []
  #heldBytes = 0
  #unread = 0
  #last: CallAnswer | null = null

  /** `over` is called once nothing follows. */
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

  /** So many bytes have found their way. */
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

  /** Nobody waits any more. */
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

  #send({ bytes, ...said }: Said): void {
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

interface Said {
  text: string
  bytes: number
  isLast: boolean
  isOfMany?: true
}

const WINDOW_BYTES = 256 * 1024
