import type { Deadlines } from '@portico/http'
import { textAt } from '@portico/http/json'
import type { Hub } from '../hub.ts'
import type { Sealer } from '../session/seal.ts'
import type { LinkCall } from '../transport.ts'
import { CallHost } from './call-host.ts'
import { ANSWER_MS, type Attendee, WaitingCall } from './waiting-call.ts'

/** What a client shows to go on with a call. */
export interface CallState {
  /** Key of the waiting call. */
  call: string
  round: number
  /** The session with the targets that the call is made in: each caller has its own, for each set of abilities. */
  session: string
  target: string
  /** Of what was asked for: a client comes back with the same call. */
  digest: string
}

export interface WaitingCallsOptions {
  hub: Hub
  sealer: Sealer
  deadlines: Deadlines
  /** Milliseconds since 1970. */
  clock: () => number
  newKey: () => string
  /** Most of them at once. */
  max?: number
}

/** Calls of one worker that wait for answers of clients. */
export class WaitingCalls {
  readonly #options: WaitingCallsOptions
  readonly #max: number
  #count = 0

  constructor(options: WaitingCallsOptions) {
    this.#options = options
    this.#max = options.max ?? MOST_WAITING
  }

  get count(): number {
    return this.#count
  }

  /** Null when too many wait already. */
  add(call: LinkCall, attendee: Attendee): WaitingCall | null {
    if (this.#count >= this.#max) return null
    this.#count += 1
    const { hub, deadlines, newKey } = this.#options
    const over = (): void => {
      this.#count -= 1
      host.close()
    }
    const waiting = new WaitingCall({ key: newKey(), call, attendee, deadlines, over })
    const host = new CallHost(waiting, hub)
    return waiting
  }

  seal({ call, round, session, target, digest }: CallState): string {
    const expiresAt = this.#options.clock() + ANSWER_MS
    return this.#options.sealer.sealAs(KIND, { c: call, r: round, s: session, t: target, d: digest, e: expiresAt })
  }

  /** Null for everything that was not sealed so, or too long ago. */
  open(text: string): CallState | null {
    const value = this.#options.sealer.openAs(KIND, text)
    if (value === null || typeof value.e !== 'number' || value.e <= this.#options.clock()) return null
    const member = (name: string): string => textAt(value, name) ?? ''
    return {
      call: member('c'),
      round: Number(value.r),
      session: member('s'),
      target: member('t'),
      digest: member('d'),
    }
  }
}

const KIND = 'call'
/** Each keeps its request, which may be as large as a request may be. */
const MOST_WAITING = 256
