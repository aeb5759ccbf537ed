import { Deadline } from '../../../net/deadlines.ts'
import type { RequestContext } from '../../../pipeline/request-context.ts'
import type { CalloutOutcome } from '../../../telemetry/metrics/callout-metrics.ts'
import type { ProcessingSettings } from './processing-settings.ts'

type Times = Pick<ProcessingSettings, 'deadlines' | 'timeoutMs' | 'now' | 'record'>

/** How long a processor may take, and how long it took. Time runs while it is its turn: to answer, or to take what waits. */
export class Patience {
  readonly #times: Times
  readonly #deadline: Deadline
  /** Since when an answer is waited for. */
  #askedAt: number | null = null
  #isRunning = false

  constructor(times: Times, timedOut: () => void) {
    this.#times = times
    this.#deadline = new Deadline(timedOut)
  }

  asked(): void {
    this.#askedAt ??= this.#times.now()
  }

  /** The answer has come, or nothing will. */
  record(outcome: CalloutOutcome, rx: RequestContext): void {
    if (this.#askedAt === null) return
    this.#times.record(outcome, this.#times.now() - this.#askedAt, rx.spans)
    this.#askedAt = null
  }

  /** Whose turn it is may have changed; with progress the time begins anew. */
  watch(isOwed: boolean, isProgress: boolean): void {
    if (!isOwed) this.#times.deadlines.clear(this.#deadline)
    else if (isProgress || !this.#isRunning) this.start()
    this.#isRunning = isOwed
  }

  start(): void {
    this.#times.deadlines.set(this.#deadline, this.#times.timeoutMs)
  }

  stop(): void {
    this.#times.deadlines.clear(this.#deadline)
  }
}
