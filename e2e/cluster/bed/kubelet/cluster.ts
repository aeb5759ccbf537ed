import { KubeClient } from '../../../../packages/controller/src/kube/kube-client.ts'
import { isStatus } from '../../../../packages/controller/src/kube/kube-error.ts'
import type { ApiKind } from '../../../../packages/controller/src/kube/kinds.ts'
import { getObject } from '../../../../packages/controller/src/kube/objects.ts'

const kind = (plural: string, name: string, namespaced = true): ApiKind => ({
  group: '',
  version: 'v1',
  kind: name,
  plural,
  namespaced,
})

export const PODS = kind('pods', 'Pod')
export const SERVICES = kind('services', 'Service')
export const SECRETS = kind('secrets', 'Secret')
export const CONFIG_MAPS = kind('configmaps', 'ConfigMap')
export const NODES = kind('nodes', 'Node', false)

/** A client that is who the token says; the certificate of the bed's server is known. */
export function clientFor({ server, ca, token }: { server: string; ca: string; token: string }): KubeClient {
  const credentials = { ca, authorization: `Bearer ${token}` }
  return new KubeClient({ server, credentials: () => Promise.resolve(credentials) })
}

interface Reference {
  namespace: string
  name: string
  optional?: boolean | undefined
}

/** The keys and values of a Secret or a ConfigMap; none when it may be missing and is. */
export async function dataOf(client: KubeClient, source: ApiKind, { namespace, name, optional }: Reference) {
  const found = (await getObject(client, source, { namespace, name })) as
    | { data?: Record<string, string>; binaryData?: Record<string, string> }
    | undefined
  if (found === undefined && optional !== true) throw new Error(`there is no ${source.kind} ${namespace}/${name}`)
  const isSecret = source === SECRETS
  const texts = Object.entries(found?.data ?? {})
  const binary = Object.entries(found?.binaryData ?? {})
  return new Map<string, Buffer>([
    ...texts.map(([key, value]): [string, Buffer] => [key, Buffer.from(value, isSecret ? 'base64' : 'utf8')]),
    ...binary.map(([key, value]): [string, Buffer] => [key, Buffer.from(value, 'base64')]),
  ])
}

/** Errors that mean that the object is gone or another by now. */
export function isOutdated(error: unknown): boolean {
  return isStatus(error, 404, 409)
}
