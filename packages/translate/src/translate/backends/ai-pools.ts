import { aiTarget } from '@portico/gateway/ir'
import type { BackendTarget } from '@portico/gateway/ir'
import type { GwBackendSpec } from '../../resources/gw-backend.ts'
import { readInferencePool } from '../../resources/inference-pool.ts'
import type { Context } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { poolBackend, poolKey } from './inference-pool.ts'

type AiSpec = NonNullable<GwBackendSpec['ai']>
type AiTarget = Extract<BackendTarget, { kind: 'ai' }>
type AiProvider = AiTarget['groups'][number][number]

/** An `ai` backend whose providers refer to the backends of their InferencePools. */
interface AiServers {
  target: AiTarget
  /** Parts of pools that are not served, and pools that cannot be used. */
  ignored: string[]
  /** Pools that cannot be used: calls of their providers fail, and the next provider is called. */
  unresolved: string[]
}

/** Translates an `ai` backend. A backend without a usable provider is unusable. */
export function aiServers(
  context: Context,
  { namespace, key }: { namespace: string; key: string },
  spec: AiSpec,
): AiServers | Unusable {
  const target = aiTarget(spec, key)
  const ignored: string[] = []
  const faults: Unusable[] = []
  const groups = target.groups.map((providers) =>
    providers.map((provider) => {
      const name = poolNameIn(provider)
      if (name === null) return provider
      const place = `${namespace}/${name}`
      const found = context.read(poolBackend, place)
      if ('reason' in found) faults.push({ ...found, message: `provider ${provider.name}: ${found.message}` })
      else ignored.push(...found.ignored)
      return withPool(context, provider, place)
    }),
  )
  const [fault] = faults
  if (fault !== undefined && faults.length === groups.flat().length) return fault
  const unresolved = faults.map(({ message }) => message)
  return { target: { ...target, groups }, ignored: [...ignored, ...unresolved], unresolved }
}

/** The name of the InferencePool of a provider: resources have it in place of the members and the picker. */
function poolNameIn({ config }: AiProvider): string | null {
  const pool = config.inferencePool as { name: string } | undefined
  return pool?.name ?? null
}

/** The provider with its pool. The host is for the `Host` header and for policies; calls go to the members. */
function withPool(context: Context, provider: AiProvider, place: string): AiProvider {
  const { inferencePool: _name, ...config } = provider.config
  const resource = context.get('InferencePool', place)
  const [port = HTTP_PORT] = resource === undefined ? [] : readInferencePool(resource).ports
  const [namespace = '', name = ''] = place.split('/')
  const host = `${name}.${namespace}.inference.${context.settings.clusterDomain}`
  return { ...provider, config: { ...config, host, port }, pool: poolKey(place) }
}

const HTTP_PORT = 80
