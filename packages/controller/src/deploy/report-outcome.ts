import type { Logger } from '@portico/gateway/log'
import type { Metrics } from '../metrics.ts'
import type { Outcome } from './reconcile.ts'

/** Counts an attempt to deploy, and logs its changes or problems. */
export function reportOutcome(
  gateway: string,
  { applied, removed, kept, problems, failures }: Outcome,
  { metrics, log }: { metrics: Metrics; log: Logger },
): void {
  const isFine = problems.length + failures.length === 0
  metrics.count('deployments_total', { result: isFine ? 'success' : problems.length > 0 ? 'invalid' : 'error' })
  if (!isFine) log.warn('deployment failed', { gateway, problems, failures })
  else if (applied.length + removed.length > 0) log.info('deployed', { gateway, applied, removed })
  if (kept.length > 0) log.info('workload of the earlier kind serves until the new Pods do', { gateway, kept })
}
