import { type Json, objectAt } from '@portico/http/json'
import { ASKING_METHODS } from './questions.ts'
import { requestId, type RpcId, type RpcMessage } from './protocol.ts'
import type { TargetFailure } from './transport.ts'

/** Receives messages of a target. */
export interface Waiter {
  message(message: RpcMessage): void
  /** Takes the response; nothing follows. */
  response(message: RpcMessage): void
  closed(): void
  failed(failure: TargetFailure): void
}

/**
 * Distributes the messages of a target that sends everything on one stream: a response goes to its request, progress to
 * the request with the token, other messages to the oldest running request, or else to the newest listener. Without a
 * recipient, messages are queued for the next listener.
 */
export class Conversation {
  /** The running requests, oldest first. */
  readonly #requests = new Map<string, Pending>()
  readonly #requestsByToken = new Map<string, Pending>()
  /** The listeners, newest last. */
  readonly #listeners = new Set<Waiter>()
  #queue: RpcMessage[] = []
  #queuedBytes = 0

  /** Whether there are neither running requests nor listeners. */
  get isQuiet(): boolean {
    return this.#requests.size === 0 && this.#listeners.size === 0
  }

  get hasRequests(): boolean {
    return this.#requests.size > 0
  }

  /** Whether there is a recipient for messages that belong to no request. */
  get hasAudience(): boolean {
    return this.#audience() !== null
  }

  /** Registers the waiter of a request; false when a request with the same id is running. */
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

  /** Removes a waiter; returns the id of its request, or null. */
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
      // The request was cancelled.
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

  /** Delivers a request of the target to a running call, or to a listener. With several calls, it is marked as ambiguous. */
  #question(message: RpcMessage): void {
    const asking = [...this.#requests.values()].filter(({ canAsk }) => canAsk)
    const waiter = asking[0]?.waiter ?? this.#audience()
    if (waiter === null) this.#keep(message)
    else waiter.message(asking.length > 1 ? { ...message, isOfMany: true } : message)
  }

  /** Fails one request, or all of them when the id is unknown. */
  reject(id: RpcId | null, failure: TargetFailure): void {
    const pending = id === null ? undefined : this.#requests.get(keyOf(id))
    if (pending === undefined) return this.fail(failure)
    this.#remove(pending)
    pending.waiter.failed(failure)
  }

  /** Fails every request; listeners stay. */
  fail(failure: TargetFailure): void {
    const pending = [...this.#requests.values()]
    this.#requests.clear()
    this.#requestsByToken.clear()
    for (const { waiter } of pending) waiter.failed(failure)
  }

  /** Fails every request, and closes the listeners. */
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
  /** The key of the request's progress token; null without one. */
  readonly token: string | null
  /** Whether the request gets only messages with its subscription id. */
  readonly isSubscription: boolean
  /** Whether the target may send requests to the client before it responds. */
  readonly canAsk: boolean
}

/** Returns a map key in which the ids 1 and "1" differ. */
function keyOf(id: RpcId): string {
  return typeof id === 'string' ? `"${id}` : String(id)
}

function isToken(value: Json | undefined): value is RpcId {
  return typeof value === 'string' || typeof value === 'number'
}

/** The `_meta` member of a notification with the id of its `subscriptions/listen` request. */
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'
const LISTEN = 'subscriptions/listen'
const MAX_QUEUED = 256
const MAX_QUEUED_BYTES = 1024 * 1024
