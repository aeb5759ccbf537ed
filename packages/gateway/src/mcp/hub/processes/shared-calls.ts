import { objectAt } from '@portico/http/json'
import { SUBSCRIPTION_ID } from '../../conversation.ts'
import { withId, withParams, withResult } from '../../edit.ts'
import { requestId, type RpcId, type RpcMessage } from '../../protocol.ts'

/**
 * The requests of many sessions to one process. The process gets a unique number in place of the id and progress token;
 * its messages get the session's own id and token back.
 */
export class SharedCalls<Owner> {
  readonly #calls = new Map<number, SharedCall<Owner>>()
  #lastNumber = 0

  newNumber(): number {
    return ++this.#lastNumber
  }

  /** Adds a request; returns it with the number that the process gets. */
  add(owner: Owner, message: RpcMessage): RpcMessage {
    const number = this.newNumber()
    const meta = objectAt(objectAt(message.value, 'params'), '_meta')
    const token = isId(meta.progressToken) ? meta.progressToken : null
    this.#calls.set(number, { owner, id: requestId(message), token })
    const numbered = withId(message, number)
    return token === null ? numbered : withParams(numbered, { _meta: { ...meta, progressToken: number } })
  }

  remove(owner: Owner, id: RpcId): void {
    const number = this.#numberOf(owner, id)
    if (number !== null) this.#calls.delete(number)
  }

  removeAll(owner: Owner): void {
    for (const [number, call] of this.#calls) if (call.owner === owner) this.#calls.delete(number)
  }

  clear(): void {
    this.#calls.clear()
  }

  /** Returns a cancellation with the number that the process knows; null when the session has no such request running. */
  cancellation(owner: Owner, message: RpcMessage): RpcMessage | null {
    const { requestId } = objectAt(message.value, 'params')
    const number = isId(requestId) ? this.#numberOf(owner, requestId) : null
    return number === null ? null : withParams(message, { requestId: number })
  }

  /** Removes the call with this number; returns its session and its own id, or null when there is none. */
  take(number: unknown): { owner: Owner; id: RpcId } | null {
    const call = this.#callOf(number)
    if (call === undefined) return null
    this.#calls.delete(Number(number))
    return { owner: call.owner, id: call.id }
  }

  /** Returns the session of a response, and the response with the session's own id; null when nobody waits for it. */
  response(message: RpcMessage): SessionMessage<Owner> | null {
    const call = this.#callOf(message.id)
    if (call === undefined) return null
    this.#calls.delete(Number(message.id))
    const { owner, id } = call
    const own = withId(message, id)
    const meta = objectAt(objectAt(message.value, 'result'), '_meta')
    if (meta[SUBSCRIPTION_ID] === undefined) return { owner, message: own }
    return { owner, message: withResult(own, { _meta: { ...meta, [SUBSCRIPTION_ID]: id } }) }
  }

  /** Returns the session of a notification, and the notification with the session's own ids; null when it names no call. */
  notification(message: RpcMessage): SessionMessage<Owner> | null {
    const params = objectAt(message.value, 'params')
    const meta = objectAt(params, '_meta')
    const subscription = this.#callOf(meta[SUBSCRIPTION_ID])
    if (subscription !== undefined) {
      const { owner, id } = subscription
      return { owner, message: withParams(message, { _meta: { ...meta, [SUBSCRIPTION_ID]: id } }) }
    }
    const call = message.method === 'notifications/progress' ? this.#callOf(params.progressToken) : undefined
    if (call === undefined || call.token === null) return null
    return { owner: call.owner, message: withParams(message, { progressToken: call.token }) }
  }

  #callOf(number: unknown): SharedCall<Owner> | undefined {
    return typeof number === 'number' ? this.#calls.get(number) : undefined
  }

  #numberOf(owner: Owner, id: RpcId): number | null {
    for (const [number, call] of this.#calls) if (call.owner === owner && call.id === id) return number
    return null
  }
}

/** A message for one session. */
interface SessionMessage<Owner> {
  owner: Owner
  message: RpcMessage
}

interface SharedCall<Owner> {
  readonly owner: Owner
  readonly id: RpcId
  readonly token: RpcId | null
}

function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || typeof value === 'number'
}
