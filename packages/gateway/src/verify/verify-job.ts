import type { Bind, Ir } from '../ir/resources.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** The input of the back-test that verifies a config. */
export interface VerifyBacktest {
  /** The live config, which the new config is compared with. */
  readonly before: Ir
  /** The binds of the new config, without IPv6 addresses when IPv6 is off in this process. */
  readonly binds: readonly Bind[]
  readonly records: readonly RequestRecord[]
  readonly maxNewlyDenied: number
  readonly limitMs: number
}

/** The input of the thread that verifies a config. */
export interface VerifyJob {
  /** The text of the new config, which was checked and has no problems. */
  readonly text: string
  readonly place: { readonly file: string; readonly dir: string }
  /** The absolute path of the config file; empty for a config without a file. */
  readonly path: string
  /** The absolute path of the test file; null without tests. */
  readonly tests: string | null
  /** The back-test to run; null without a back-test. */
  readonly backtest: VerifyBacktest | null
}

/** A test of a verification that failed. */
export interface FailedTest {
  readonly file: string
  readonly line: number
  readonly name: string
}

export interface VerifyResult {
  /** The reasons to reject the config, each with its location; empty when it is verified. */
  readonly problems: readonly string[]
  /** The number of tests that the verification ran. */
  readonly tests: number
  readonly failed: readonly FailedTest[]
  /** The number of recorded requests that the back-test decided again; null without a back-test. */
  readonly decided: number | null
  /** The number of recorded requests that passed and that the new config would deny. */
  readonly newlyDenied: number
  /** The number of recorded requests that the back-test could not decide. */
  readonly unknown: number
}
