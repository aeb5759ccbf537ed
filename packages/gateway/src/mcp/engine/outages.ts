import type { TargetFailure } from '../transport.ts'
import type { LostTargets, Probe } from './lost-targets.ts'

interface Outage {
  failure: TargetFailure
  failedAt: number
  /** Whether a probe is running; there is one at a time. */
  isProbed: boolean
}

/**
 * The targets that failed slowly. With FailOpen, such a target is left out of merged responses at once and probed in the
 * background, so that one hung server does not cost every list its time limit.
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

  /** Returns the failure of a target that is left out without a request; null when the request is sent. */
  current(target: string): TargetFailure | null {
    const outage = this.#byTarget.get(target)
    if (outage === undefined) return null
    if (outage.isProbed || this.#now() - outage.failedAt < REMEMBERED_MS) return outage.failure
    this.#byTarget.delete(target)
    return null
  }

  /** Whether the caller has to probe the target in the background; `record` must follow. */
  startProbe(target: string): boolean {
    const outage = this.#byTarget.get(target)
    if (outage === undefined || outage.isProbed) return false
    outage.isProbed = true
    return true
  }

  /** Called when a client was served without the target, and has to be notified when the target recovers. */
  missed(target: string, probe: Probe): void {
    this.#lost.missed(target, probe)
  }

  /** Records the outcome of a request sent at `askedAt`; `failure` is null when the target responded. `probe` is for later probes. */
  record(target: string, askedAt: number, failure: TargetFailure | null, probe: Probe): void {
    if (failure === null) this.#lost.answered(target)
    else this.missed(target, probe)
    const failedAt = this.#now()
    const isProbe = this.#byTarget.get(target)?.isProbed === true
    if (failure !== null && (isProbe || failedAt - askedAt >= SLOW_MS)) {
      this.#byTarget.set(target, { failure, failedAt, isProbed: false })
    } else this.#byTarget.delete(target)
  }
}

/** A target that fails faster than this is not left out: its failures cost no waiting time. */
const SLOW_MS = 1_000
/** After this time since the failure, the next request is sent to the target again. */
const REMEMBERED_MS = 60_000
