import type { Logger } from '@portico/gateway/log'
import type { PolicyTestsJob, PolicyTestsResult } from '@portico/gateway/policy-tests'
import type { PolicyVerification, Translator } from '@portico/translate'
import type { Metrics } from '../metrics.ts'
import { findingOf, inputOf, obstacleOf, type Verdict, verdictOf } from './verdict.ts'
import { VerificationQueue } from './verification-queue.ts'

export interface PolicyVerifierOptions {
  translator: Pick<Translator, 'verificationOf' | 'trialOf' | 'forceOf' | 'waits'>
  /** Runs tests outside of the event loop; null when the signal aborts. */
  test: (job: PolicyTestsJob, signal: AbortSignal) => Promise<PolicyTestsResult | null>
  /** Called with `namespace/name` of a GwPolicy that has a new verdict. */
  decided: (key: string) => void
  log: Logger
  metrics: Metrics
}

/**
 * Runs the tests of GwPolicies with `spec.verify`, one policy at a time, while this controller leads. A verdict takes
 * effect when the status has it: all controllers read there which spec is in force.
 */
export class PolicyVerifier {
  readonly #options: PolicyVerifierOptions
  readonly #queue = new VerificationQueue()
  /** All GwPolicies with `spec.verify`. */
  readonly #known = new Set<string>()
  readonly #verdicts = new Map<string, Verdict>()
  #stop: AbortController | null = null
  #timer: NodeJS.Timeout | null = null
  /** The run in progress. */
  #run: Promise<void> | null = null
  /** The time before which no tests are prepared, so that the event loop has time for other work. */
  #restUntil = 0

  constructor(options: PolicyVerifierOptions) {
    this.#options = options
  }

  /** Policies that wait for a run. */
  get backlog(): number {
    return this.#queue.size
  }

  /** The newest verdict, if it is about this version of the policy. */
  verdictOf(key: string, { uid, generation }: { uid?: string; generation?: number }): Verdict | null {
    const verdict = this.#verdicts.get(key)
    const isCurrent = verdict?.uid === (uid ?? '') && verdict.condition.observedGeneration === generation
    return isCurrent ? verdict : null
  }

  /** Called with GwPolicies whose newest spec or tests changed, and with whether the config of a Gateway changed. */
  changed(keys: readonly string[], { hasNewConfig }: { hasNewConfig: boolean }): void {
    for (const key of keys) {
      if (this.#options.translator.verificationOf(key) === null) this.#forget(key)
      else {
        this.#known.add(key)
        this.#queue.add(key)
      }
    }
    if (hasNewConfig) for (const key of this.#known) if (!this.#isVerified(key)) this.#queue.add(key)
    this.#next()
  }

  /** Starts to run tests. */
  lead(): void {
    this.#stop ??= new AbortController()
    for (const key of this.#known) if (!this.#isVerified(key)) this.#queue.add(key)
    this.#next()
  }

  /** Ends the run in progress, and forgets verdicts that no status has. */
  async follow(): Promise<void> {
    this.#stop?.abort()
    this.#stop = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#verdicts.clear()
    this.#queue.clear()
    await this.#run
  }

  #forget(key: string): void {
    this.#known.delete(key)
    this.#verdicts.delete(key)
    this.#queue.drop(key)
  }

  #next(): void {
    const stop = this.#stop
    if (stop === null || this.#run !== null) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const now = performance.now()
    const next = now < this.#restUntil ? { at: this.#restUntil } : this.#queue.next(now)
    if (next === null) return
    if ('at' in next) {
      if (this.#queue.size > 0) this.#timer = setTimeout(() => this.#next(), Math.max(1, next.at - now))
      return
    }
    this.#run = this.#verify(next.key, stop.signal)
      .catch((error: unknown) => this.#options.log.error('tests of a GwPolicy could not run', { key: next.key, error }))
      .finally(() => {
        this.#run = null
        this.#next()
      })
  }

  async #verify(key: string, signal: AbortSignal): Promise<void> {
    const { translator, metrics, log, decided } = this.#options
    const wanted = translator.verificationOf(key)
    // A policy whose Secrets or ConfigMaps are still to be read is reported again when they are.
    if (wanted === null || translator.waits(`Verification/${key}`) || this.#isVerified(key)) return
    const startedAt = performance.now()
    const finding = obstacleOf(wanted) ?? (await this.#test(key, wanted, signal))
    const endedAt = performance.now()
    this.#queue.ran(key, endedAt, endedAt - startedAt)
    if (finding === null || signal.aborted) return
    const newest = translator.verificationOf(key)
    // A newer version waits in the queue.
    if (newest === null || newest.generation !== wanted.generation || inputOf(newest) !== inputOf(wanted)) return
    const verdict = verdictOf(wanted, finding, translator.forceOf(key).record)
    metrics.count('policy_verifications_total', { result: finding.reason })
    metrics.observe('policy_verification_seconds', (endedAt - startedAt) / 1000)
    const { reason, message } = verdict.condition
    log.info('GwPolicy tested', { key, generation: wanted.generation, reason, message })
    this.#verdicts.set(key, verdict)
    // Tests may have exceeded their time because the machine was busy, so they run again.
    if (finding.reason === 'Timeout') this.#queue.add(key)
    decided(key)
  }

  async #test(
    key: string,
    { tests }: PolicyVerification,
    signal: AbortSignal,
  ): Promise<ReturnType<typeof findingOf> | null> {
    const { translator, test } = this.#options
    const startedAt = performance.now()
    const gateways = translator.trialOf(key)
    if (gateways.length === 0 || tests === null) {
      return { reason: 'Pending', message: 'the policy reaches no Gateway at which its tests could run' }
    }
    // `test` copies the configs for its thread before it returns its promise, which takes time of the event loop.
    const tested = test({ tests: tests.text, location: tests.location, gateways }, signal)
    this.#restUntil = performance.now() + REST_FACTOR * (performance.now() - startedAt)
    const result = await tested
    return result === null ? null : findingOf(result)
  }

  /** Whether the status says that the newest spec passed these tests. */
  #isVerified(key: string): boolean {
    const { translator } = this.#options
    const wanted = translator.verificationOf(key)
    const { record, condition } = translator.forceOf(key)
    if (wanted === null || record === null || condition?.status !== 'True') return false
    return record.generation === wanted.generation && record.checked === inputOf(wanted)
  }
}

/** The preparation of tests takes at most one part in this many of the time of the event loop. */
const REST_FACTOR = 10
