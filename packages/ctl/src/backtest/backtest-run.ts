import type { BacktestReport } from '@portico/gateway/backtest'

/** A report, with the paths of both configs. */
export interface BacktestRun {
  readonly report: BacktestReport
  readonly file: string
  /** Null when the config of the records is not known. */
  readonly before: string | null
}
