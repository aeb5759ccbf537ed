import type { RecordedRequest, RecordedRun } from './facts.ts'
import type { RecordOutcome } from './record.ts'

interface FinishedRequest {
  readonly reason: string
  readonly status: number
  readonly mcp: { readonly outcome: string | null } | null
  readonly notes?: { readonly [key: string]: unknown } | null
}

/** How something ended, by the reason that logs have; what was evicted or slow is for the recorder to know. */
export function outcomeOf({ reason, status, mcp, notes }: FinishedRequest): Exclude<RecordOutcome, 'evicted' | 'slow'> {
  switch (reason) {
    case 'Upstream':
      if (mcp !== null) return outcomeOfMessage(mcp.outcome)
      return status >= 500 ? 'failed' : 'passed'
    case 'DirectResponse':
      return 'passed'
    case 'RateLimit':
      // The request fails when the rate limit service is unavailable.
      return status >= 500 ? 'failed' : 'limited'
    case 'InvalidRequest':
      // A version that the client should not have used is no failure of the gateway.
      return status >= 500 && status !== 505 ? 'failed' : 'denied'
    case 'PromptGuard':
      // The status of a stream was sent before the guard failed.
      return status >= 500 || notes?.['code'] === 'guard_failed' ? 'failed' : 'denied'
    case 'ClientGone':
      return 'aborted'
    case 'NoHealthyBackend':
    case 'UpstreamFailure':
    case 'Timeout':
    case 'Internal':
      return 'failed'
    default:
      return status >= 500 ? 'failed' : 'denied'
  }
}

function outcomeOfMessage(outcome: string | null): 'passed' | 'denied' | 'failed' | 'aborted' {
  return OUTCOMES_OF_MESSAGES[outcome ?? ''] ?? 'passed'
}

/** An answer that says `isError` is an answer all the same. */
const OUTCOMES_OF_MESSAGES: Readonly<Record<string, 'denied' | 'failed' | 'aborted'>> = {
  denied: 'denied',
  error: 'failed',
  unavailable: 'failed',
  cancelled: 'aborted',
}

export interface Ending {
  outcome: RecordOutcome
  isSlow: boolean
}

/** Returns the outcome for the recorder, which also marks slow requests and evictions. */
export function endingOf(run: RecordedRun & Partial<RecordedRequest>, slowMs: number): Ending {
  const { answeredAt = 0, startedAt, durationMs } = run
  // The time that a stream or a slow client takes after the response began says nothing about the gateway.
  const isSlow = (answeredAt === 0 ? durationMs : answeredAt - startedAt) > slowMs
  const outcome = outcomeOf(run)
  if (outcome !== 'passed' && outcome !== 'aborted') return { outcome, isSlow }
  if (run.hasEvicted === true) return { outcome: 'evicted', isSlow }
  return { outcome: outcome === 'passed' && isSlow ? 'slow' : outcome, isSlow }
}
