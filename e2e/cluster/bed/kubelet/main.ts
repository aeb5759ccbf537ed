import { readFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Resource } from '@portico/translate'
import { type ApiKind, pathOf } from '../../../../packages/controller/src/kube/kinds.ts'
import { isStatus } from '../../../../packages/controller/src/kube/kube-error.ts'
import { createObject, patchStatus } from '../../../../packages/controller/src/kube/objects.ts'
import { Reflector } from '../../../../packages/controller/src/kube/reflector.ts'
import { clientFor, CONFIG_MAPS, isOutdated, NODES, PODS, SECRETS, SERVICES } from './cluster.ts'
import { LoadBalancers } from './load-balancers.ts'
import { serviceOf, startNameServer } from './name-server.ts'
import { type Images, KUBELET_PORT, NODE_ADDRESS, NODE_NAME, now } from './node-settings.ts'
import { Pod } from './pod.ts'
import type { PodObject } from './pod-types.ts'
import { startServer } from './server.ts'

/** A kubelet without containers: every Pod is processes of this machine. It binds Pods to its node itself. */

interface KubeletSettings {
  server: string
  ca: string
  token: string
  cert: string
  key: string
  /** A file, read anew for each Pod. */
  images: string
  folder: string
}

const settings = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as KubeletSettings
const client = clientFor(settings)
const podByUid = new Map<string, Pod>()
const uidByKey = new Map<string, string>()
const ended = new AbortController()

const log = (what: unknown): void => console.log(now(), what instanceof Error ? what.message : what)

function podChanged(key: string, resource: Resource | undefined): void {
  const object = resource as PodObject | undefined
  const uid = uidByKey.get(key)
  // Another Pod may have the name of one that is gone.
  if (uid !== undefined && uid !== object?.metadata.uid) forget(uid)
  if (object === undefined) {
    uidByKey.delete(key)
    return
  }
  uidByKey.set(key, object.metadata.uid)
  if (object.spec.nodeName === undefined) bind(object)
  else if (object.spec.nodeName === NODE_NAME) keep(object)
}

function forget(uid: string): void {
  const pod = podByUid.get(uid)
  podByUid.delete(uid)
  pod?.stop(0).catch(log)
}

function bind({ metadata: { namespace, name, uid, deletionTimestamp } }: PodObject): void {
  if (deletionTimestamp !== undefined) return
  const target = { apiVersion: 'v1', kind: 'Node', name: NODE_NAME }
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, uid }, target }
  const path = pathOf(PODS, { namespace, name, part: 'binding' })
  client.ask({ method: 'POST', path, body }).catch((error: unknown) => !isOutdated(error) && log(error))
}

function keep(object: PodObject): void {
  const { uid, deletionTimestamp, deletionGracePeriodSeconds = 30 } = object.metadata
  let pod = podByUid.get(uid)
  if (pod === undefined) {
    if (['Succeeded', 'Failed'].includes(object.status?.phase ?? '')) return
    const images = JSON.parse(readFileSync(settings.images, 'utf8')) as Images
    pod = new Pod(object, { client, images, folder: settings.folder })
    podByUid.set(uid, pod)
    const started = pod
    started.start().catch((error: unknown) => started.log(error))
  }
  pod.object = object
  if (deletionTimestamp !== undefined) pod.stop(deletionGracePeriodSeconds).catch(log)
}

function sourceChanged(kind: ApiKind, key: string): void {
  const [namespace, name = ''] = key.split('/')
  for (const pod of podByUid.values()) if (pod.object.metadata.namespace === namespace) pod.refresh(kind, name)
}

async function register(): Promise<void> {
  const labels = { 'kubernetes.io/hostname': NODE_NAME, 'kubernetes.io/os': 'linux' }
  await createObject(client, NODES, { metadata: { name: NODE_NAME, labels } }).catch((error: unknown) => {
    if (!isStatus(error, 409)) throw error
  })
  const capacity = { cpu: '64', memory: '64Gi', pods: '1000', 'ephemeral-storage': '100Gi' }
  const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'runs processes' }
  await patchStatus(
    client,
    NODES,
    { name: NODE_NAME },
    {
      capacity,
      allocatable: capacity,
      addresses: [
        { type: 'InternalIP', address: NODE_ADDRESS },
        { type: 'Hostname', address: NODE_NAME },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: KUBELET_PORT } },
      conditions: [{ ...condition, lastHeartbeatTime: now(), lastTransitionTime: now() }],
    },
  )
}

function watch(
  kind: ApiKind,
  changed: (key: string, resource: Resource | undefined) => void,
  metadataOnly = false,
): void {
  const watcher = { changed, synced: () => undefined, onError: log }
  const options = { metadataOnly, backoff: { firstMs: 100, mostMs: 1000 } }
  new Reflector(client, kind, watcher, options).run(ended.signal).catch(log)
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    for (const pod of podByUid.values()) pod.end()
    process.exit(0)
  })
}

startServer({
  cert: settings.cert,
  key: settings.key,
  ca: settings.ca,
  find: (namespace, name) => podByUid.get(uidByKey.get(`${namespace}/${name}`) ?? ''),
})
for (let isRegistered = false; !isRegistered;) {
  isRegistered = await register().then(
    () => true,
    (error: unknown) => (log(error), false),
  )
  if (!isRegistered) await wait(200)
}
const balancers = new LoadBalancers(client)
watch(PODS, podChanged)
const addressesByService = new Map<string, readonly string[]>()
watch(SERVICES, (key, service) => {
  balancers.changed(key, service)
  const { clusterIPs = [] } = (service?.spec ?? {}) as { clusterIPs?: readonly string[] }
  if (service === undefined) addressesByService.delete(key)
  else
    addressesByService.set(
      key,
      clusterIPs.filter((address) => isIPv4(address)),
    )
})
startNameServer((name) => addressesByService.get(serviceOf(name) ?? ''))
watch(SECRETS, (key) => sourceChanged(SECRETS, key), true)
watch(CONFIG_MAPS, (key) => sourceChanged(CONFIG_MAPS, key), true)
