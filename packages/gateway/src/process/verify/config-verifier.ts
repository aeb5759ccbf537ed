import type { Ir } from '../../ir/resources.ts'
import type { LoadedConfig } from '../../sources/file.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import type { RequestRecord, VerificationView } from '../../telemetry/recorder/record.ts'
import type { FailedTest, VerifyBacktest, VerifyResult } from '../../verify/verify-job.ts'
import { testsOf } from './verify-settings.ts'

interface VerifierParts {
  /** The absolute path of the config file; empty for a config without a file. */
  readonly path: string
  /** Returns the records of the last `lastMs` milliseconds, the newest first. */
  readonly records: (lastMs: number) => Iterable<RequestRecord>
  /** Returns a config without IPv6 addresses when IPv6 is off in this process. */
  readonly served: (ir: Ir) => Ir
  readonly collector: Collector
  readonly log: Logger
}

/** Runs the verification under `config.verify` of each config before the config goes live. */
export class ConfigVerifier {
  readonly #parts: VerifierParts
  readonly #counts = { success: 0, failure: 0 }
  #last: VerificationView | null = null

  constructor(parts: VerifierParts) {
    this.#parts = parts
    const { collector } = parts
    collector.provide('config_verifications_total', ['success'], () => this.#counts.success)
    collector.provide('config_verifications_total', ['failure'], () => this.#counts.failure)
    collector.provideAll('config_failed_tests', () =>
      (this.#last?.failed ?? []).map(({ test }) => [[test], 1] as const),
    )
  }

  /** The result of the last verification; null when no config has `config.verify`. */
  get last(): VerificationView | null {
    return this.#last
  }

  /** Returns the reasons to reject the loaded config. `live` is the current config, null at startup. */
  async verify(loaded: LoadedConfig, live: Ir | null): Promise<string[]> {
    const { verify } = loaded.process
    if (verify === undefined) {
      this.#last = null
      return []
    }
    const startedAt = performance.now()
    const result = await this.#run(loaded, live)
    const tookMs = Math.round(performance.now() - startedAt)
    const problems = typeof result === 'string' ? [`the config could not be verified: ${result}`] : [...result.problems]
    const {
      tests = 0,
      failed = [],
      decided = null,
      newlyDenied = 0,
      unknown = 0,
    } = typeof result === 'string' ? {} : result
    const isVerified = problems.length === 0
    this.#counts[isVerified ? 'success' : 'failure']++
    this.#last = {
      ...{ at: Date.now(), isVerified, tests, decided, newlyDenied, unknown, tookMs },
      failed: failed.slice(0, MOST_NAMED).map(nameOf),
      problem: problems[0] ?? null,
    }
    const { log } = this.#parts
    const counts = {
      tests,
      failed: failed.length,
      ...(decided !== null && { decided, newlyDenied, unknown }),
      took: `${tookMs}ms`,
    }
    if (isVerified) log.info('config verified', counts)
    else log.error('config not verified', { ...counts, first: failed[0]?.name ?? problems[0] ?? '' })
    return problems
  }

  async #run(loaded: LoadedConfig, live: Ir | null): Promise<VerifyResult | string> {
    const { verify } = loaded.process
    const { text } = loaded
    if (verify === undefined || text === undefined) return 'it has no text'
    const { runVerification } = await import('../../verify/run-verification.ts')
    const { text: content, ...place } = text
    const job = {
      ...{ text: content, place, path: this.#parts.path, tests: testsOf(loaded) },
      backtest: this.#backtest(loaded, live),
    }
    return runVerification(job, verify.timeout)
  }

  /** Returns the back-test of a verification; null at startup, and without records to decide again. */
  #backtest({ process: { verify }, ir }: LoadedConfig, live: Ir | null): VerifyBacktest | null {
    if (verify?.backtest === undefined) return null
    const { last, limit, maxNewlyDenied } = verify.backtest
    const { records: recordsOf, served, log } = this.#parts
    const records = live === null ? [] : [...Iterator.from(recordsOf(last)).take(limit)]
    if (live === null || records.length === 0) {
      log.info('config not back-tested: no requests are recorded')
      return null
    }
    const limitMs = verify.timeout / 2
    return { before: live, binds: served(ir).binds, records, maxNewlyDenied, limitMs }
  }
}

function nameOf({ file, line, name }: FailedTest): VerificationView['failed'][number] {
  return { test: name, file, line }
}

const MOST_NAMED = 20
