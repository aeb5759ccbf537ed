import type { Bind, Ir } from '../ir/resources.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** The back-test of a verification. */
export interface VerifyBacktest {
  /** The live config. */
  readonly before: Ir
  /** The binds of the new config as this process would serve them. */
  readonly binds: readonly Bind[]
  readonly records: readonly RequestRecord[]
  readonly maxNewlyDenied: number
  readonly limitMs: number
}

/** The input of the thread that verifies a config. */
export interface VerifyJob {
  /** The new config, which has no problems. */
  readonly text: string
  readonly place: { readonly file: string; readonly dir: string }
  /** The absolute path of the config; empty for a config without a file. */
  readonly path: string
  /** The absolute path of the file of tests; null without tests. */
  readonly tests: string | null
  /** Null without a back-test. */
  readonly backtest: VerifyBacktest | null
}

/** A test that failed. */
export interface FailedTest {
  readonly file: string
  readonly line: number
  readonly name: string
}

export interface VerifyResult {
  /** The reasons to reject the config, each with its location; empty when it is verified. */
  readonly problems: readonly string[]
  /** The number of tests that ran. */
  readonly tests: number
  readonly failed: readonly FailedTest[]
  /** The number of requests that were decided again; null without a back-test. */
  readonly decided: number | null
  /** Requests that passed and would be refused now. */
  readonly newlyDenied: number
  /** Requests whose decision cannot be known. */
  readonly unknown: number
}
