import type { RetryBudget } from '../../../pipeline/compiled/compiled.ts'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { Budget } from '../../../state/budget.ts'
import { addTo, rollingCount } from './rolling-count.ts'
import type { RetryBudgetConfig } from './schema.ts'

/** The budget of a backend, which all of its routes, all workers and all generations share. */
export function createRetryBudget(config: RetryBudgetConfig, env: Env): RetryBudget {
  const { percent, interval, minRetryRate } = config
  const place = `${env.attachment}/retryBudget`
  const cellsOf = (name: string) => {
    const cells = env.counters.cells(`${place}/${name}`)
    if (cells !== null) return cells
    const found = `found no room for the retry budget of ${env.attachment}`
    throw new ConfigFault(config, [], { found, expected: 'fewer retry budgets' })
  }
  const counts = cellsOf(`share/${interval}`)
  const isNone = minRetryRate.count === 0
  const minimum = isNone
    ? null
    : new Budget({
        cells: cellsOf(`minimum/${minRetryRate.interval}`),
        amount: minRetryRate.count,
        burst: 0,
        windowMs: minRetryRate.interval,
      })
  const add = (first: number, now: number): void => addTo(counts.use(now), first, now, interval)

  return {
    countRequest: () => add(REQUESTS, env.monotonic()),
    takeRetry() {
      const now = env.monotonic()
      const words = counts.use(now)
      const requests = rollingCount(words, REQUESTS, now, interval)
      const retries = rollingCount(words, RETRIES, now, interval)
      const isInShare = (retries + 1) * 100 <= percent * (requests + retries + 1)
      // A retry uses up the minimum first, so that the share is left for busy times.
      const isGranted = minimum?.take(1, now).granted === true || isInShare
      if (isGranted) add(RETRIES, now)
      return isGranted
    },
  }
}

/** The first of the two words of each count. */
const REQUESTS = 0
const RETRIES = 2
