import type { CalloutOutcome } from '../../telemetry/metrics/callout-metrics.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import { createBudgetScripts } from './budget-scripts.ts'
import { connectRedis, type RedisSettings } from './connect.ts'
import { RedisBudgets } from './redis-budgets.ts'

interface OpenParts {
  /** Milliseconds since 1970. */
  clock(): number
  record(outcome: CalloutOutcome, milliseconds: number): void
  /** Counts a cost that is lost. */
  countLost(): void
  log: Logger
}

/** Opens the budgets of `config.stores.redis`. */
export function openRedisBudgets(settings: RedisSettings, parts: OpenParts): RedisBudgets {
  const { log } = parts
  const { host, port, prefix, failureMode } = settings
  const scripts = createBudgetScripts()
  const server = `${host}:${port}`
  let known: string | null = null
  let reportedAt = -Infinity
  let lostAt = -Infinity
  return new RedisBudgets({
    client: connectRedis(settings, scripts),
    prefix,
    failsOpen: failureMode === 'Open',
    scripts,
    clock: () => parts.clock(),
    record: (outcome, milliseconds) => parts.record(outcome, milliseconds),
    report(problem) {
      if (problem === known) return
      const now = performance.now()
      if (problem === null) log.info('budget store works again', { server })
      // A server that comes and goes is reported once a minute.
      else if (known === null && now - reportedAt < REPORT_MS) return
      else {
        log.warn('budget store unavailable', { server, cause: problem, failureMode })
        reportedAt = now
      }
      known = problem
    },
    lost() {
      parts.countLost()
      const now = performance.now()
      if (now - lostAt < REPORT_MS) return
      lostAt = now
      log.error('costs are not counted in budgets, the budget store was away for too long', { server })
    },
  })
}

const REPORT_MS = 60_000
