import type { Origin } from '../../telemetry/otlp/envelope.ts'
import { resourceOf } from '../../telemetry/otlp/resource.ts'
import { identityOf } from './identity.ts'
import { VERSION } from '../../version.ts'

/** Who this gateway is to collectors of OpenTelemetry. */
export function exportOrigin(env: NodeJS.ProcessEnv): Origin {
  const resource = resourceOf(env, {
    'service.name': 'portico',
    'service.version': VERSION,
    // Two that count for themselves must never look like one.
    'service.instance.id': `${identityOf(env).podName}:${process.pid}`,
  })
  return { resource, scope: { name: 'portico', version: VERSION } }
}
