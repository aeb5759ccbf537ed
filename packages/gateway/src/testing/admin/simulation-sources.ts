import type { BacktestSource } from '../../admin/backtest/backtest-api.ts'
import type { CapsuleSource } from '../../admin/capsules/capsule-api.ts'

/** The back-test source of a gateway without records. */
export const noBacktests: BacktestSource = {
  run: () => Promise.resolve({ kind: 'closed', reason: 'there are no records' }),
}

/** The capsule source of a gateway that has none of its earlier configs. */
export const noCapsules: CapsuleSource = {
  capsule: () => Promise.resolve({ kind: 'closed', reason: 'the config is unknown' }),
}
