import { setTimeout as wait } from 'node:timers/promises'
import { readKubeconfig } from '../../../packages/controller/src/kube/kubeconfig.ts'
import { KubeClient } from '../../../packages/controller/src/kube/kube-client.ts'
import { pathOf } from '../../../packages/controller/src/kube/kinds.ts'
import { KeptConnection } from './kept-connection.ts'
import { COLOURS, hostOf, NAMESPACE, pathOfRoute, routeName, ROUTES, serviceName, serviceOf } from './objects.ts'

/**
 * Run inside of a bed: changes one route after the other, and asks until every connection gets the answer of the new one.
 * Prints for each change the milliseconds since it was sent and since the API server said that it has it.
 */
export interface ChangesOrder {
  address: string
  routes: number
  count: number
  /** Between two changes. */
  pauseMs: number
}

export interface MeasuredChange {
  sinceSent: number
  sinceTaken: number
}

/** With that many, both workers of a data plane on two cores are most likely among those who answer. */
const CONNECTIONS = 4
/** Not more often than needed: who asks takes time from those who are measured. */
const POLL_MS = 2

const order = JSON.parse(process.argv[2] ?? '{}') as ChangesOrder
const client = new KubeClient(readKubeconfig({ file: process.env['KUBECONFIG'] ?? '' }))
const connections = Array.from({ length: CONNECTIONS }, () => new KeptConnection(order.address, 80))
/** Routes that lead to the neighbour of their Service. */
const moved = new Set<number>()

const measured: MeasuredChange[] = []
for (let count = 0; count < order.count; count++) {
  measured.push(await change(Math.floor(Math.random() * order.routes)))
  await wait(order.pauseMs)
}
for (const connection of connections) connection.close()
client.close()
process.stdout.write(JSON.stringify(measured))

async function change(index: number): Promise<MeasuredChange> {
  if (!moved.delete(index)) moved.add(index)
  // Two neighbours differ in their colour.
  const service = serviceOf(index) ^ (moved.has(index) ? 1 : 0)
  const wanted = COLOURS[service % 2] ?? ''
  const sentAt = performance.now()
  const taken = client
    .ask({
      method: 'PATCH',
      path: pathOf(ROUTES, { namespace: NAMESPACE, name: routeName(index) }),
      contentType: 'application/json-patch+json',
      body: [{ op: 'replace', path: '/spec/rules/0/backendRefs/0/name', value: serviceName(service) }],
    })
    .then(() => performance.now())
  const takenAt = await taken
  await Promise.all(connections.map((connection) => untilAnswer(connection, index, wanted)))
  const effectiveAt = performance.now()
  return { sinceSent: effectiveAt - sentAt, sinceTaken: effectiveAt - takenAt }
}

async function untilAnswer(connection: KeptConnection, index: number, wanted: string): Promise<void> {
  while ((await connection.ask(hostOf(index), pathOfRoute(index))) !== wanted) await wait(POLL_MS)
}
