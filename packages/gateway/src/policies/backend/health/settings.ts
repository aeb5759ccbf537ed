import type { Expression } from '../../../pipeline/expression/expression.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import type { ConnectionSettings } from '@portico/http/client'
import type { HealthConfig } from './schema.ts'

export function applyHealth(settings: ConnectionSettings, { eviction }: HealthConfig): void {
  settings.health = {
    eviction:
      eviction === undefined
        ? null
        : {
            durationMs: eviction.duration,
            restoreHealth: eviction.restoreHealth ?? null,
            consecutiveFailures: eviction.consecutiveFailures ?? 0,
            healthThreshold: eviction.healthThreshold ?? null,
          },
  }
}

/** The condition of an unhealthy response; null uses the status. */
export function unhealthyCondition(config: HealthConfig | undefined, env: Pick<Env, 'cel'>): Expression | null {
  const source = config?.unhealthyCondition
  return source === undefined ? null : env.cel(source, 'responseHead')
}
