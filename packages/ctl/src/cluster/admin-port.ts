import type { ApiKind } from '@portico/controller/kube'
import { Fields } from '@portico/translate/fields'
import { parse } from 'yaml'
import type { Cluster, LiveResource } from './cluster.ts'
import { ClusterProblem } from './problem.ts'

const USUAL_PORT = 15_000
const CONTAINER = 'portico'
const CONFIG_MAP: ApiKind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true }

/** Returns the port of a Pod's admin server, which a variable or the config file may change or turn off. */
export async function adminPortOf(cluster: Cluster, pod: LiveResource): Promise<number> {
  const name = `Pod ${pod.metadata.namespace}/${pod.metadata.name}`
  const address = addressInVariables(pod) ?? (await addressInFile(cluster, pod)) ?? `localhost:${USUAL_PORT}`
  if (address === 'off')
    throw new ClusterProblem(`the admin server of ${name} is off: ADMIN_ADDR, or adminAddr of its config, turns it off`)
  const [, port] = /:(\d{1,5})$/.exec(address) ?? []
  if (port === undefined) {
    throw new ClusterProblem(
      `the admin server of ${name} is at ${JSON.stringify(address)}, which has no port, so it cannot be forwarded`,
    )
  }
  return Number(port)
}

function addressInVariables({ spec }: LiveResource): string | undefined {
  const containers = new Fields(spec, ['spec'], []).objects('containers')
  const own = containers.find((container) => container.text('name') === CONTAINER) ?? containers[0]
  const variable = own?.objects('env').find((each) => each.text('name') === 'ADMIN_ADDR')
  // An empty variable counts as unset.
  return variable?.text('value') || undefined
}

/**
 * Reads `adminAddr` from the ConfigMap of the Pod; undefined, which means the default port, when it is unset or cannot
 * be read.
 */
async function addressInFile(cluster: Cluster, { metadata, spec }: LiveResource): Promise<string | undefined> {
  const names = new Fields(spec, ['spec'], [])
    .objects('volumes')
    .filter((volume) => volume.text('name') === 'config')
    .flatMap((volume) => volume.object('configMap').text('name') ?? [])
  const [name] = names
  if (name === undefined) return undefined
  try {
    const map = await cluster.get(CONFIG_MAP, name, metadata.namespace)
    const text = new Fields(map?.data, ['data'], []).text('gateway.yaml')
    const file: unknown = text === undefined ? undefined : parse(text)
    return new Fields(file, [], []).object('config').text('adminAddr') || undefined
  } catch {
    return undefined
  }
}
