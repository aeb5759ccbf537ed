import type { JsonObject } from '@portico/http/json'
import { Conversation } from '../../conversation.ts'
import { makeMessage, type RpcId, type RpcMessage } from '../../protocol.ts'
import type { TargetFailure } from '../../transport.ts'
import { Flow } from '../../flow.ts'
import type { RemoteWaiter } from '../../remote/remote-waiter.ts'
import { type TargetSession, TAKEN } from './target-session.ts'

/** The process that sessions share, as one session uses it. */
interface SharedProcess {
  ask(owner: SharedSession, message: RpcMessage, failed: (failure: TargetFailure) => void): void
  tell(owner: SharedSession, message: RpcMessage, done: (failure: TargetFailure | null) => void): void
  abandon(owner: SharedSession, id: RpcId): void
}

/** The link of one session to a process that sessions share. */
export class SharedSession implements TargetSession {
  usedAt = performance.now()
  readonly #process: SharedProcess
  readonly #maxHeldBytes: number
  readonly #conversation = new Conversation()

  /** `maxMessageBytes`: the queue has room for at least one message of this size. */
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

  /** Takes a message for this session, with the session's own ids. */
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

  /** Prepares a waiter, and fails it when it is too slow, so that other sessions do not wait for it. */
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

const SLOW: TargetFailure = { code: 'broken', message: 'the client did not read the response in time' }
const MAX_HELD_BYTES = 16 * 1024 * 1024
