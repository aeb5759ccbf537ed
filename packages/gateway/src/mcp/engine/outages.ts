import type { TargetFailure } from '../transport.ts'
import type { LostTargets, Probe } from './lost-targets.ts'

interface Outage {
  failure: TargetFailure
  failedAt: number
  /** One request at a time asks the target again. */
  isProbed: boolean
}

/**
 * Targets that have kept requests waiting before they failed. With FailOpen such a target is left out at once, and asked
 * again in the background, so that one hung server does not cost every list its time limit.
 */
export class Outages {
  readonly #now: () => number
  readonly #lost: LostTargets
  readonly #byTarget = new Map<string, Outage>()

  /** `now` is the worker's clock, in milliseconds. */
  constructor(now: () => number, lost: LostTargets) {
    this.#now = now
    this.#lost = lost
  }

  /** Why the target is left out without a request; null when it has to be asked. */
  current(target: string): TargetFailure | null {
    const outage = this.#byTarget.get(target)
    if (outage === undefined) return null
    if (outage.isProbed || this.#now() - outage.failedAt < REMEMBERED_MS) return outage.failure
    this.#byTarget.delete(target)
    return null
  }

  /** Whether the caller is to ask the target again, in the background; `settle` must follow. */
  startProbe(target: string): boolean {
    const outage = this.#byTarget.get(target)
    if (outage === undefined || outage.isProbed) return false
    outage.isProbed = true
    return true
  }

  /** A client goes on without the target, and hears when it is back. */
  missed(target: string, probe: Probe): void {
    this.#lost.missed(target, probe)
  }

  /** Takes what came of asking the target since `askedAt`; `failure` is null when it answered. `probe` asks it later. */
  settle(target: string, askedAt: number, failure: TargetFailure | null, probe: Probe): void {
    if (failure === null) this.#lost.answered(target)
    else this.missed(target, probe)
    const failedAt = this.#now()
    const isProbe = this.#byTarget.get(target)?.isProbed === true
    if (failure !== null && (isProbe || failedAt - askedAt >= SLOW_MS)) {
      this.#byTarget.set(target, { failure, failedAt, isProbed: false })
    } else this.#byTarget.delete(target)
  }
}

/** A failure that comes sooner costs nobody anything: the target is asked each time. */
const SLOW_MS = 1_000
/** After that long without a request the target is asked again, and waited for. */
const REMEMBERED_MS = 60_000
