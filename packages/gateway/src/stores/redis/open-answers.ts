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
  return new RedisAnswers({
    ...parts,
    client: connectRedis(settings, scripts),
    prefix,
    scripts,
    stored(isStored, evicted) {
      counts.count('redis', isStored ? 'stored' : 'rejected')
      if (evicted > 0) counts.count('redis', 'evicted', evicted)
    },
    report: problemLog(
      (cause) => log.warn('cache store unavailable, calls go on without shared answers', { server, cause }),
      () => log.info('cache store works again', { server }),
    ),
    reportStoring: problemLog(
      (cause) => log.warn('cache store refuses writes, answers are not stored', { server, cause }),
      () => log.info('cache store stores answers again', { server }),
    ),
  })
}

/** Returns the function that logs changes of a problem. A problem that comes and goes is logged once a minute. */
function problemLog(began: (problem: string) => void, ended: () => void): (problem: string | null) => void {
  let known: string | null = null
  let reportedAt = -Infinity
  return (problem) => {
    if (problem === known) return
    const now = performance.now()
    if (problem === null) ended()
    else if (known === null && now - reportedAt < REPORT_MS) return
    else {
      began(problem)
      reportedAt = now
    }
    known = problem
  }
}

const REPORT_MS = 60_000
