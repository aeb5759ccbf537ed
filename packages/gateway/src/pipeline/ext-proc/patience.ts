import { Deadline } from '@portico/http'
import type { RequestContext } from '../context/request-context.ts'
import type { CalloutOutcome } from '../../telemetry/metrics/callout-metrics.ts'
import type { ProcessingSettings } from './processing-settings.ts'

type Times = Pick<ProcessingSettings, 'deadlines' | 'timeoutMs' | 'now' | 'record'>

/** Limits and measures the time of a processor. Time runs while the processor must respond or read. */
export class Patience {
  readonly #times: Times
  readonly #deadline: Deadline
  /** The time since which a response is expected. */
  #askedAt: number | null = null
  #isRunning = false
  /** Whether the processor has asked for more time since its last response. */
  #isExtended = false

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

  /** Called when the processor may have begun or ceased to owe an answer; progress restarts the time limit. */
  watch(isOwed: boolean, isProgress: boolean): void {
    if (isProgress) this.#isExtended = false
    if (!isOwed) this.#times.deadlines.clear(this.#deadline)
    else if (isProgress || !this.#isRunning) this.start()
    this.#isRunning = isOwed
  }

  /** Restarts the time limit with this duration, once per response; returns false when no time runs or it was extended already. */
  extend(timeoutMs: number): boolean {
    if (!this.#isRunning || this.#isExtended) return false
    this.#isExtended = true
    this.#times.deadlines.set(this.#deadline, timeoutMs)
    return true
  }

  start(): void {
    this.#times.deadlines.set(this.#deadline, this.#times.timeoutMs)
  }

  stop(): void {
    this.#times.deadlines.clear(this.#deadline)
  }
}
