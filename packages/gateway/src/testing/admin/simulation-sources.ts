import type { BacktestSource } from '../../admin/backtest/backtest-api.ts'
import type { CapsuleSource } from '../../admin/capsules/capsule-api.ts'

/** Back-tests of a gateway without records. */
export const noBacktests: BacktestSource = {
  run: () => Promise.resolve({ kind: 'closed', reason: 'there are no records' }),
}

/** Capsules of a gateway that does not know its configs. */
export const noCapsules: CapsuleSource = {
  capsule: () => Promise.resolve({ kind: 'closed', reason: 'the config is unknown' }),
}
