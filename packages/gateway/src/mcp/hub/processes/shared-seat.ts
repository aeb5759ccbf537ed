import type { JsonObject } from '@portico/http/json'
import { Conversation } from '../../conversation.ts'
import { makeMessage, type RpcId, type RpcMessage } from '../../message.ts'
import type { TargetFailure } from '../../transport.ts'
import { Flow } from '../../flow.ts'
import type { RemoteWaiter } from '../../remote/remote-waiter.ts'
import { type Seat, TAKEN } from './seat.ts'

/** What a session that shares its process with others asks of it. */
export interface SharedProcess {
  ask(seat: SharedSeat, message: RpcMessage, failed: (failure: TargetFailure) => void): void
  tell(seat: SharedSeat, message: RpcMessage, done: (failure: TargetFailure | null) => void): void
  abandon(seat: SharedSeat, id: RpcId): void
}

/** A session among others at one process. */
export class SharedSeat implements Seat {
  usedAt = performance.now()
  readonly #process: SharedProcess
  readonly #maxHeldBytes: number
  readonly #conversation = new Conversation()

  /** `maxMessageBytes`: one message of that size may always wait. */
  constructor(process: SharedProcess, maxMessageBytes: number) {
    this.#process = process
    this.#maxHeldBytes = Math.max(MAX_HELD_BYTES, maxMessageBytes)
  }

  get isQuiet(): boolean {
    return this.#conversation.isQuiet
  }

  get isIdle(): boolean {
    return !this.#conversation.hasRequests
  }

  request(message: RpcMessage, waiter: RemoteWaiter): void {
    this.#attend(waiter)
    if (!this.#conversation.expect(message, waiter)) return waiter.failed(TAKEN)
    this.#process.ask(this, message, (failure) => {
      if (this.#conversation.forget(waiter) !== null) waiter.failed(failure)
    })
  }

  tell(message: RpcMessage, done: (failure: TargetFailure | null) => void): void {
    this.usedAt = performance.now()
    this.#process.tell(this, message, done)
  }

  listen(waiter: RemoteWaiter): void {
    this.#attend(waiter)
    this.#conversation.listen(waiter)
  }

  forget(waiter: RemoteWaiter): void {
    this.usedAt = performance.now()
    const id = this.#conversation.forget(waiter)
    if (id !== null) this.#process.abandon(this, id)
    waiter.drop()
  }

  /** Something for this session, in its own ids. */
  take(message: RpcMessage): void {
    this.#conversation.take(message)
  }

  answer({ id }: RpcMessage, result: JsonObject): void {
    this.take(makeMessage({ jsonrpc: '2.0', id, result }))
  }

  reject(id: RpcId, failure: TargetFailure): void {
    this.#conversation.reject(id, failure)
  }

  fail(failure: TargetFailure): void {
    this.#conversation.fail(failure)
  }

  end(why: string): void {
    this.#conversation.close({ code: 'broken', message: why })
  }

  /** The others must not wait for one who is slow. */
  #attend(waiter: RemoteWaiter): void {
    this.usedAt = performance.now()
    waiter.flow = new Flow({
      maxBytes: this.#maxHeldBytes,
      full: () => {
        this.forget(waiter)
        waiter.failed(SLOW)
      },
      drained: () => {},
    })
  }
}

const SLOW: TargetFailure = { code: 'broken', message: 'its answer was not read in time' }
const MAX_HELD_BYTES = 16 * 1024 * 1024
