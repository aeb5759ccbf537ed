import type { Logger } from '../telemetry/log/logger.ts'
import type { Origin } from '../telemetry/otlp/envelope.ts'
import { resourceOf } from '../telemetry/otlp/resource.ts'
import { VERSION } from '../version.ts'

/** Who this gateway is to collectors of OpenTelemetry. */
export function exportOrigin(env: NodeJS.ProcessEnv, log: Logger): Origin {
  const { attributes, problem } = resourceOf(env, { 'service.name': 'portico', 'service.version': VERSION })
  if (problem !== null) log.warn('a variable of the environment counts for nothing', { problem })
  return { resource: attributes, scope: { name: 'portico', version: VERSION } }
}
