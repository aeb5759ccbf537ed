import type { RedisSettlement } from '../stores/budgets/settlement.ts'
import type { RedisSettings } from '../stores/redis/connect.ts'
import type { Logger } from '../telemetry/log/logger.ts'

/**
 * Settles calls of workers that have ended in Redis, which ignores those that it knows. Rejects when Redis does not
 * answer in time.
 */
export async function settleAgain(
  calls: readonly RedisSettlement[],
  settings: RedisSettings,
  log: Logger,
): Promise<void> {
  const { openRedisBudgets } = await import('../stores/redis/open-budgets.ts')
  let isLost = false
  const budgets = openRedisBudgets(settings, {
    clock: Date.now,
    record() {},
    countLost: () => (isLost = true),
    log,
  })
  for (const call of calls) budgets.settle(call)
  await budgets.close(PATIENCE_MS)
  if (isLost) throw new Error('Redis does not answer')
}

/** Redis may be away for a while, but a later settlement might be the second one. */
const PATIENCE_MS = 30_000
