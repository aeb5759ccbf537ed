import type { BacktestSource } from '../../admin/backtest/backtest-api.ts'

/** Back-tests of a gateway without records. */
export const noBacktests: BacktestSource = {
  run: () => Promise.resolve({ kind: 'closed', reason: 'there are no records' }),
}
