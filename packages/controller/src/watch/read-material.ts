import type { MaterialKind, Resource } from '@portico/translate'
import { apiByKind } from '../deploy/objects.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { getObject } from '../kube/objects.ts'

/** Reads a Secret or ConfigMap with its content; undefined when it does not exist. */
export function readMaterial(
  client: KubeClient,
  { kind, key, signal }: { kind: MaterialKind; key: string; signal: AbortSignal },
): Promise<Resource | undefined> {
  const [namespace = '', name = ''] = key.split('/')
  return getObject(client, apiByKind[kind], { namespace, name }, { signal, limitMs: LIMIT_MS })
}

const LIMIT_MS = 5_000
