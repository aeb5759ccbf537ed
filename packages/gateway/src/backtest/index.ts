/** The entry point of the package for back-tests, which porticoctl imports. */
export { backtest, type BacktestConfig } from './backtest.ts'
export { type BacktestExample, type BacktestReport, FLIP_KINDS, type FlipGroup, type FlipKind } from './report.ts'
export { loadTestedConfig } from '../config-tests/tested-config.ts'
export type { RequestRecord } from '../telemetry/recorder/record.ts'
export { readRecord } from './read-record.ts'
