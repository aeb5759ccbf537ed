import type { Deadlines } from '@portico/http'
import { textAt } from '@portico/http/json'
import type { Hub } from '../hub.ts'
import type { Sealer } from '../session/seal.ts'
import type { LinkCall } from '../transport.ts'
import { CallHost } from './call-host.ts'
import { ANSWER_MS, type Attendee, WaitingCall } from './waiting-call.ts'

/** The content of `requestState`, with which a client resumes a call. */
export interface CallState {
  /** The key of the waiting call. */
  call: string
  round: number
  /** The key of the caller's session with the targets: callers have one for each set of capabilities. */
  session: string
  target: string
  /** The digest of the request: a client has to resume with the same call. */
  digest: string
}

interface WaitingCallsOptions {
  hub: Hub
  sealer: Sealer
  deadlines: Deadlines
  /** Milliseconds since 1970. */
  clock: () => number
  newKey: () => string
  /** The most waiting calls at the same time. */
  max?: number
}

/** The calls of one worker that wait for input of clients. */
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

  /** Adds a waiting call; null when there are too many. */
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

  /** Decrypts a `requestState`; null when it is invalid or expired. */
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
/** Each waiting call keeps its request in memory, which may have the maximum size. */
const MOST_WAITING = 256
