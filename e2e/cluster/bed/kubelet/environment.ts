import type { KubeClient } from '../../../../packages/controller/src/kube/kube-client.ts'
import { CONFIG_MAPS, dataOf, SECRETS } from './cluster.ts'
import { fieldOf } from './fields.ts'
import { API_SERVICE_ADDRESS } from './node-settings.ts'
import type { ContainerSpec, EnvFrom, EnvVar, PodObject } from './pod-types.ts'

export interface Environment {
  values: Readonly<Record<string, string>>
  /** With the values of `$(NAME)` in it. */
  expand: (text: string) => string
}

/** The variables of a container, in the order that later ones may speak of earlier ones. */
export async function environmentOf(
  client: KubeClient,
  pod: PodObject,
  { env = [], envFrom = [] }: ContainerSpec,
  address: string,
): Promise<Environment> {
  const values: Record<string, string> = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/',
    HOSTNAME: pod.metadata.name,
    KUBERNETES_SERVICE_HOST: API_SERVICE_ADDRESS,
    KUBERNETES_SERVICE_PORT: '443',
  }
  const expand = (text: string): string =>
    text.replace(/\$\$|\$\(([^)]+)\)/g, (whole, name?: string) => (name === undefined ? '$' : (values[name] ?? whole)))
  for (const source of envFrom) Object.assign(values, await group(client, pod, source))
  for (const entry of env) {
    const value =
      entry.valueFrom === undefined ? expand(entry.value ?? '') : await reference(client, pod, entry.valueFrom, address)
    if (value !== undefined) values[entry.name] = value
  }
  return { values, expand }
}

async function group(client: KubeClient, pod: PodObject, source: EnvFrom): Promise<Record<string, string>> {
  const { prefix = '', secretRef, configMapRef } = source
  const { name = '', optional } = secretRef ?? configMapRef ?? {}
  const kind = secretRef === undefined ? CONFIG_MAPS : SECRETS
  const data = await dataOf(client, kind, { namespace: pod.metadata.namespace, name, optional })
  return Object.fromEntries([...data].map(([key, value]) => [prefix + key, value.toString()]))
}

async function reference(
  client: KubeClient,
  pod: PodObject,
  from: NonNullable<EnvVar['valueFrom']>,
  address: string,
): Promise<string | undefined> {
  if (from.fieldRef !== undefined) return fieldOf(pod, address, from.fieldRef.fieldPath)
  // The resources of the machine, because containers have no limits.
  if (from.resourceFieldRef !== undefined) return from.resourceFieldRef.resource.includes('cpu') ? '2' : String(2 ** 33)
  const { name, key, optional } = from.secretKeyRef ?? from.configMapKeyRef ?? { name: '', key: '' }
  const kind = from.secretKeyRef === undefined ? CONFIG_MAPS : SECRETS
  const value = (await dataOf(client, kind, { namespace: pod.metadata.namespace, name, optional })).get(key)
  if (value === undefined && optional !== true) throw new Error(`${kind.kind} ${name} has no key ${key}`)
  return value?.toString()
}
