import type { BacktestReport } from '@portico/gateway/backtest'

/** The report of a back-test, with the paths of both configs. */
export interface BacktestRun {
  readonly report: BacktestReport
  readonly file: string
  /** The path of the config that decided the records; null when the config is not known. */
  readonly before: string | null
}
