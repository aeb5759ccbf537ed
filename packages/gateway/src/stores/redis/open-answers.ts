import type { CalloutOutcome } from '../../telemetry/metrics/callout-metrics.ts'
import type { CacheCounts } from '../../telemetry/metrics/cache-metrics.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import { createAnswerScripts } from './answer-scripts.ts'
import { connectRedis, type RedisSettings } from './connect.ts'
import { RedisAnswers } from './redis-answers.ts'

interface OpenParts {
  sessionKeys(): readonly string[]
  record(outcome: CalloutOutcome, milliseconds: number): void
  counts: CacheCounts
  log: Logger
}

/**
 * Opens the shared answers of `config.stores.redis`. Their connection is not that of budgets, because a large answer
 * delays what follows it.
 */
export function openRedisAnswers(settings: RedisSettings, { log, counts, ...parts }: OpenParts): RedisAnswers {
  const { host, port, prefix } = settings
  const scripts = createAnswerScripts()
  const server = `${host}:${port}`
  let known: string | null = null
  let reportedAt = -Infinity
  return new RedisAnswers({
    ...parts,
    client: connectRedis(settings, scripts),
    prefix,
    scripts,
    stored(isStored, evicted) {
      counts.count('redis', isStored ? 'stored' : 'rejected')
      if (evicted > 0) counts.count('redis', 'evicted', evicted)
    },
    report(problem) {
      if (problem === known) return
      const now = performance.now()
      if (problem === null) log.info('cache store works again', { server })
      // A server that comes and goes is reported once a minute.
      else if (known === null && now - reportedAt < REPORT_MS) return
      else {
        log.warn('cache store unavailable, calls go on without shared answers', { server, cause: problem })
        reportedAt = now
      }
      known = problem
    },
  })
}

const REPORT_MS = 60_000
