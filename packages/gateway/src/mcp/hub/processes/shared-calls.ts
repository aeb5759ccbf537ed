import { objectAt } from '@portico/http/json'
import { SUBSCRIPTION_ID } from '../../conversation.ts'
import { withId, withParams, withResult } from '../../edit.ts'
import { requestId, type RpcId, type RpcMessage } from '../../message.ts'

/**
 * Requests of many sessions at one process. Each has a number of its own there, which stands for its id and its progress
 * token; what comes back carries those of the session again.
 */
export class SharedCalls<Seat> {
  readonly #calls = new Map<number, SharedCall<Seat>>()
  #lastNumber = 0

  newNumber(): number {
    return ++this.#lastNumber
  }

  /** Gives the request as the process gets it. */
  add(seat: Seat, message: RpcMessage): RpcMessage {
    const number = this.newNumber()
    const meta = objectAt(objectAt(message.value, 'params'), '_meta')
    const token = isId(meta.progressToken) ? meta.progressToken : null
    this.#calls.set(number, { seat, id: requestId(message), token })
    const numbered = withId(message, number)
    return token === null ? numbered : withParams(numbered, { _meta: { ...meta, progressToken: number } })
  }

  remove(seat: Seat, id: RpcId): void {
    const number = this.#numberOf(seat, id)
    if (number !== null) this.#calls.delete(number)
  }

  removeAll(seat: Seat): void {
    for (const [number, call] of this.#calls) if (call.seat === seat) this.#calls.delete(number)
  }

  clear(): void {
    this.#calls.clear()
  }

  /** A cancellation as the process gets it; null when the session has no such request under way. */
  cancellation(seat: Seat, message: RpcMessage): RpcMessage | null {
    const { requestId } = objectAt(message.value, 'params')
    const number = isId(requestId) ? this.#numberOf(seat, requestId) : null
    return number === null ? null : withParams(message, { requestId: number })
  }

  /** Whose call has this number there, and what they call it; null when nobody's. It is over. */
  take(number: unknown): { seat: Seat; id: RpcId } | null {
    const call = this.#callOf(number)
    if (call === undefined) return null
    this.#calls.delete(Number(number))
    return { seat: call.seat, id: call.id }
  }

  /** Whose response it is, as they get it; null when nobody waits for it. */
  response(message: RpcMessage): Addressed<Seat> | null {
    const call = this.#callOf(message.id)
    if (call === undefined) return null
    this.#calls.delete(Number(message.id))
    const { seat, id } = call
    const own = withId(message, id)
    const meta = objectAt(objectAt(message.value, 'result'), '_meta')
    if (meta[SUBSCRIPTION_ID] === undefined) return { seat, message: own }
    return { seat, message: withResult(own, { _meta: { ...meta, [SUBSCRIPTION_ID]: id } }) }
  }

  /** Whose notification it is, as they get it; null when it does not say. */
  notification(message: RpcMessage): Addressed<Seat> | null {
    const params = objectAt(message.value, 'params')
    const meta = objectAt(params, '_meta')
    const subscription = this.#callOf(meta[SUBSCRIPTION_ID])
    if (subscription !== undefined) {
      const { seat, id } = subscription
      return { seat, message: withParams(message, { _meta: { ...meta, [SUBSCRIPTION_ID]: id } }) }
    }
    const call = message.method === 'notifications/progress' ? this.#callOf(params.progressToken) : undefined
    if (call === undefined || call.token === null) return null
    return { seat: call.seat, message: withParams(message, { progressToken: call.token }) }
  }

  #callOf(number: unknown): SharedCall<Seat> | undefined {
    return typeof number === 'number' ? this.#calls.get(number) : undefined
  }

  #numberOf(seat: Seat, id: RpcId): number | null {
    for (const [number, call] of this.#calls) if (call.seat === seat && call.id === id) return number
    return null
  }
}

export interface Addressed<Seat> {
  seat: Seat
  message: RpcMessage
}

interface SharedCall<Seat> {
  readonly seat: Seat
  readonly id: RpcId
  readonly token: RpcId | null
}

function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || typeof value === 'number'
}
