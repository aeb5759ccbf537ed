import type { Origin } from '../../telemetry/otlp/envelope.ts'
import { resourceOf } from '../../telemetry/otlp/resource.ts'
import { identityOf } from './identity.ts'
import { VERSION } from '../../version.ts'

/** The resource and scope of this gateway in OTLP exports. */
export function exportOrigin(env: NodeJS.ProcessEnv): Origin {
  const resource = resourceOf(env, {
    'service.name': 'portico',
    'service.version': VERSION,
    // Two gateways with own counters must never share an instance ID.
    'service.instance.id': `${identityOf(env).podName}:${process.pid}`,
  })
  return { resource, scope: { name: 'portico', version: VERSION } }
}
