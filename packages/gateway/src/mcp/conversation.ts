import { type Json, objectAt } from '@portico/http/json'
import { ASKING_METHODS } from './questions.ts'
import { requestId, type RpcId, type RpcMessage } from './message.ts'
import type { TargetFailure } from './transport.ts'

/** Somebody who waits for what a target says. */
export interface Waiter {
  message(message: RpcMessage): void
  /** The response: nothing follows. */
  response(message: RpcMessage): void
  closed(): void
  failed(failure: TargetFailure): void
}

/**
 * Who gets what, in a session with a target that says everything on one stream: a response goes to its request,
 * progress to the one that gave the token, anything else to the oldest request under way, or to those who listen, or it
 * waits until somebody does.
 */
export class Conversation {
  /** In the order they came. */
  readonly #requests = new Map<string, Pending>()
  readonly #requestsByToken = new Map<string, Pending>()
  /** The newest last. */
  readonly #listeners = new Set<Waiter>()
  #queue: RpcMessage[] = []
  #queuedBytes = 0

  /** Nobody waits for anything. */
  get isQuiet(): boolean {
    return this.#requests.size === 0 && this.#listeners.size === 0
  }

  get hasRequests(): boolean {
    return this.#requests.size > 0
  }

  /** Whether somebody hears what the target says on its own account. */
  get hasAudience(): boolean {
    return this.#audience() !== null
  }

  /** From now on the waiter gets what the request brings. False when another of that id is under way. */
  expect({ id, method, value }: RpcMessage, waiter: Waiter): boolean {
    const own = requestId({ id, method })
    const key = keyOf(own)
    if (this.#requests.has(key)) return false
    const token = objectAt(objectAt(value, 'params'), '_meta').progressToken
    const pending = {
      id: own,
      waiter,
      token: isToken(token) ? keyOf(token) : null,
      isSubscription: method === LISTEN,
      canAsk: ASKING_METHODS.has(method),
    }
    this.#requests.set(key, pending)
    if (pending.token !== null) this.#requestsByToken.set(pending.token, pending)
    return true
  }

  listen(waiter: Waiter): void {
    this.#listeners.add(waiter)
    const queue = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    for (const message of queue) waiter.message(message)
  }

  /** Gives the id of the request that it waited for, or null. */
  forget(waiter: Waiter): RpcId | null {
    this.#listeners.delete(waiter)
    for (const pending of this.#requests.values()) {
      if (pending.waiter !== waiter) continue
      this.#remove(pending)
      return pending.id
    }
    return null
  }

  take(message: RpcMessage): void {
    const { kind, id, method, value } = message
    if (kind === 'response') {
      const pending = id === null ? undefined : this.#requests.get(keyOf(id))
      // Whoever asked has left.
      if (pending === undefined) return
      this.#remove(pending)
      return pending.waiter.response(message)
    }
    const params = objectAt(value, 'params')
    const subscription = objectAt(params, '_meta')[SUBSCRIPTION_ID]
    if (isToken(subscription)) return this.#requests.get(keyOf(subscription))?.waiter.message(message)
    const { progressToken } = params
    const reported =
      method === 'notifications/progress' && isToken(progressToken)
        ? this.#requestsByToken.get(keyOf(progressToken))
        : undefined
    if (kind === 'request') return this.#question(message)
    const waiter = reported?.waiter ?? this.#audience()
    if (waiter === null) this.#keep(message)
    else waiter.message(message)
  }

  /** What the target asks has to do with a call, if there is one; which of several it is, nothing tells. */
  #question(message: RpcMessage): void {
    const asking = [...this.#requests.values()].filter(({ canAsk }) => canAsk)
    const waiter = asking[0]?.waiter ?? this.#audience()
    if (waiter === null) this.#keep(message)
    else waiter.message(asking.length > 1 ? { ...message, isOfMany: true } : message)
  }

  /** One request fails, or all where it is not known which. */
  reject(id: RpcId | null, failure: TargetFailure): void {
    const pending = id === null ? undefined : this.#requests.get(keyOf(id))
    if (pending === undefined) return this.fail(failure)
    this.#remove(pending)
    pending.waiter.failed(failure)
  }

  /** Every request fails; those who listen go on doing so. */
  fail(failure: TargetFailure): void {
    const pending = [...this.#requests.values()]
    this.#requests.clear()
    this.#requestsByToken.clear()
    for (const { waiter } of pending) waiter.failed(failure)
  }

  /** Nothing more is said. */
  close(failure: TargetFailure): void {
    this.fail(failure)
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    this.#queue = []
    for (const listener of listeners) listener.closed()
  }

  #audience(): Waiter | null {
    for (const { waiter, isSubscription } of this.#requests.values()) if (!isSubscription) return waiter
    return [...this.#listeners].at(-1) ?? null
  }

  #keep(message: RpcMessage): void {
    this.#queue.push(message)
    this.#queuedBytes += message.bytes.length
    while (this.#queue.length > MAX_QUEUED || this.#queuedBytes > MAX_QUEUED_BYTES) {
      this.#queuedBytes -= this.#queue.shift()?.bytes.length ?? 0
    }
  }

  #remove(pending: Pending): void {
    this.#requests.delete(keyOf(pending.id))
    if (pending.token !== null) this.#requestsByToken.delete(pending.token)
  }
}

interface Pending {
  readonly id: RpcId
  readonly waiter: Waiter
  /** Key of its progress token. */
  readonly token: string | null
  /** It gets nothing but what names it. */
  readonly isSubscription: boolean
  /** The target may ask something before it answers. */
  readonly canAsk: boolean
}

/** 1 and "1" are two ids. */
function keyOf(id: RpcId): string {
  return typeof id === 'string' ? `"${id}` : String(id)
}

function isToken(value: Json | undefined): value is RpcId {
  return typeof value === 'string' || typeof value === 'number'
}

/** What a notification of a subscription names it by: the id of the request. */
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'
const LISTEN = 'subscriptions/listen'
const MAX_QUEUED = 256
const MAX_QUEUED_BYTES = 1024 * 1024
