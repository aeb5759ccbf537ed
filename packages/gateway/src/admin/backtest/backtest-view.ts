/**
 * The types of back-tests in the admin API. The file has only types, because programs and pages outside of the gateway
 * import them.
 */
import type { BacktestReport } from '../../backtest/report.ts'
import type { CheckRequest, ConfigProblem } from '../config-edit-view.ts'

export type * from '../../backtest/report.ts'

/** The largest number of records to decide; the newest records are taken. */
export interface BacktestRequest extends CheckRequest {
  /** The age of the oldest record to decide, such as `15m` or `1h`. */
  readonly last: string
  /** The largest number of records to decide; the newest records are taken. */
  readonly limit: number
}

/** Answer of `POST /api/backtest`. */
export interface BacktestAnswer {
  /** The version of the config file that the edited config was compared with. */
  readonly version: string
  readonly warnings: readonly ConfigProblem[]
  readonly report: BacktestReport
}
