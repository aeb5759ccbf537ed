import type { Waiter } from '../../conversation.ts'
import { withId } from '../../edit.ts'
import type { RpcId, RpcMessage } from '../../protocol.ts'
import type { TargetFailure } from '../../transport.ts'

/** The single `initialize` request to a process: requests with equal params share its response. */
export class Beginning implements Waiter {
  readonly params: string
  readonly #refused: () => void
  readonly #waiters = new Map<Waiter, RpcId>()
  #response: RpcMessage | null = null

  constructor(params: string, refused: () => void) {
    this.params = params
    this.#refused = refused
  }

  join(id: RpcId, waiter: Waiter): void {
    if (this.#response === null) this.#waiters.set(waiter, id)
    else waiter.response(withId(this.#response, id))
  }

  forget(waiter: Waiter): void {
    this.#waiters.delete(waiter)
  }

  message(message: RpcMessage): void {
    this.#waiters.keys().next().value?.message(message)
  }

  response(message: RpcMessage): void {
    if (message.value.error === undefined) this.#response = message
    else this.#refused()
    for (const [waiter, id] of this.#takeWaiters()) waiter.response(withId(message, id))
  }

  closed(): void {}

  failed(failure: TargetFailure): void {
    this.#refused()
    for (const [waiter] of this.#takeWaiters()) waiter.failed(failure)
  }

  #takeWaiters(): [Waiter, RpcId][] {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    return waiters
  }
}
