/** Back-tests in the admin API. Types only, which programs and pages outside of the gateway share. */
import type { BacktestReport } from '../../backtest/report.ts'
import type { CheckRequest, ConfigProblem } from '../config-edit-view.ts'

export type * from '../../backtest/report.ts'

/** Body of `POST /api/backtest`. */
export interface BacktestRequest extends CheckRequest {
  /** How far back, such as `15m` or `1h`. */
  readonly last: string
  /** The most records to decide, the newest ones. */
  readonly limit: number
}

/** Answer of `POST /api/backtest`. */
export interface BacktestAnswer {
  /** The version of the file that the text was compared with. */
  readonly version: string
  readonly warnings: readonly ConfigProblem[]
  readonly report: BacktestReport
}
