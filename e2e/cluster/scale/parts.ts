import { setTimeout as wait } from 'node:timers/promises'
import { pathOf } from '../../../packages/controller/src/kube/kinds.ts'
import type { ChangesOrder, MeasuredChange } from './changes.ts'
import { percentile, row, type Row } from './numbers.ts'
import { NAMESPACE, serviceName, SERVICES, SLICES } from './objects.ts'
import type { MeasuredProgram, Scene } from './scene.ts'

/** Long enough for a thread without work to give back what it took from the machine. */
const IDLE_MS = 15_000

/** Memory of a data plane before the routes are created, in MB. */
export async function dataPlaneBase(scene: Scene): Promise<number> {
  await wait(IDLE_MS)
  return scene.residentMb('dataPlane')
}

/** The start of a controller, and of a data plane with an empty disk. */
export async function firstSync(scene: Scene, routes: number): Promise<Row[]> {
  const seconds: Record<MeasuredProgram, number[]> = { controller: [], dataPlane: [] }
  for (let times = 0; times < SYNCS; times++) {
    seconds.controller.push(await scene.readyAfter('controller'))
    await scene.settled(routes)
    seconds.dataPlane.push(await scene.readyAfter('dataPlane'))
  }
  const [controller, dataPlane] = [percentile(seconds.controller, 0.5), percentile(seconds.dataPlane, 0.5)]
  return [
    row(`controller: start to all routes translated, median of ${SYNCS}`, controller, 's'),
    row(`data plane: start to all routes live, median of ${SYNCS}`, dataPlane, 's'),
    row('first sync, one after the other', controller + dataPlane, 's', 5),
  ]
}

const SYNCS = 3

export async function controllerMemory(scene: Scene): Promise<Row[]> {
  return [row('controller, resident, highest of five looks', await highestMb(scene), 'MB', 300)]
}

/** The highest memory of the idle controller, in MB. */
export async function highestMb(scene: Scene): Promise<number> {
  const looks: number[] = []
  for (let look = 0; look < 5; look++) {
    await wait(IDLE_MS / 5)
    looks.push(await scene.residentMb('controller'))
  }
  return Math.max(...looks)
}

export async function memory(scene: Scene, base: number): Promise<Row[]> {
  return [
    ...(await controllerMemory(scene)),
    row('data plane, resident, with one route', base, 'MB'),
    row('data plane, over that with all routes', (await scene.residentMb('dataPlane')) - base, 'MB', 60),
  ]
}

export async function changes(scene: Scene, routes: number, count: number): Promise<Row[]> {
  const order: ChangesOrder = { address: scene.address, routes, count, pauseMs: 100 }
  // Warms up the just-in-time compiler.
  await scene.inside('changes.ts', { ...order, count: Math.ceil(count / 5) }).output
  const measured = JSON.parse(await scene.inside('changes.ts', order).output) as MeasuredChange[]
  const taken = measured.map(({ sinceTaken }) => sinceTaken)
  const sent = measured.map(({ sinceSent }) => sinceSent)
  return [
    row('change taken to effective, p50', percentile(taken, 0.5), 'ms', 30),
    row('change taken to effective, p90', percentile(taken, 0.9), 'ms'),
    row('change taken to effective, p99', percentile(taken, 0.99), 'ms', 100),
    row('change sent to effective, p50', percentile(sent, 0.5), 'ms'),
    row('change sent to effective, p99', percentile(sent, 0.99), 'ms'),
  ]
}

/** Writes of EndpointSlices at a steady pace; each changes the addresses of a Service that routes lead to. */
export async function churn(scene: Scene, { rate, seconds }: { rate: number; seconds: number }): Promise<Row[]> {
  const addresses = await scene.echoAddresses()
  const write = (index: number): Promise<unknown> => {
    const service = index % SERVICES
    const own = addresses[service % 2] ?? []
    // All of them, and all but one, in turn.
    const kept = Math.floor(index / SERVICES) % 2 === 0 ? own.slice(1) : own
    const endpoints = kept.map((address) => ({ addresses: [address], conditions: { ready: true } }))
    return scene.bed.client.ask({
      method: 'PATCH',
      path: pathOf(SLICES, { namespace: NAMESPACE, name: serviceName(service) }),
      contentType: 'application/merge-patch+json',
      body: { endpoints },
    })
  }
  await wait(IDLE_MS)
  const generation = await scene.metric('dataPlane', 'portico_config_generation')
  const before = await Promise.all([cpu(scene, 'controller'), cpu(scene, 'dataPlane')])
  const startedAt = performance.now()
  let written = 0
  const running = new Set<Promise<unknown>>()
  while (performance.now() - startedAt < seconds * 1000) {
    for (const due = ((performance.now() - startedAt) / 1000) * rate; written < due; written++) {
      const run = write(written).finally(() => running.delete(run))
      running.add(run)
    }
    await wait(10)
  }
  await Promise.all(running)
  const took = (performance.now() - startedAt) / 1000
  const after = await Promise.all([cpu(scene, 'controller'), cpu(scene, 'dataPlane')])
  const share = (index: 0 | 1): number => ((after[index] - before[index]) / took) * 100
  const compiled = (await scene.metric('dataPlane', 'portico_config_generation')) - generation
  return [
    row(`EndpointSlice writes a second, for ${seconds} s`, written / took, ''),
    row('data plane, CPU of one core meanwhile', share(1), '%', 5),
    row('controller, CPU of one core meanwhile', share(0), '%'),
    row('configs compiled meanwhile', compiled, '', 0),
  ]
}

/** Routes that come and go, again and again: what the programs take for them they give back. */
export async function loop(
  scene: Scene,
  { from, count, rounds }: { from: number; count: number; rounds: number },
): Promise<Row[]> {
  const looks: Record<MeasuredProgram, number[]> = { controller: [], dataPlane: [] }
  const look = async (): Promise<void> => {
    const seen: Record<MeasuredProgram, number[]> = { controller: [], dataPlane: [] }
    for (let times = 0; times < 5; times++) {
      await wait(IDLE_MS)
      for (const one of ['controller', 'dataPlane'] as const) seen[one].push(await scene.residentMb(one))
    }
    for (const one of ['controller', 'dataPlane'] as const) looks[one].push(Math.min(...seen[one]))
  }
  await look()
  for (let round = 0; round < rounds; round++) {
    await scene.create(from, from + count)
    await scene.settled(from + count)
    await scene.delete(from, from + count)
    await scene.settled(from)
    await look()
  }
  const growth = (of: MeasuredProgram): number => (looks[of].at(-1) ?? 0) / (looks[of][0] ?? 1)
  const text = (of: MeasuredProgram): string => looks[of].map((mb) => mb.toFixed(0)).join(', ')
  return [
    row(
      `controller before and after rounds of ${count} routes (${text('controller')} MB), last to first`,
      growth('controller'),
      'times',
      1.1,
    ),
    row(`data plane before and after them (${text('dataPlane')} MB), last to first`, growth('dataPlane'), 'times', 1.1),
  ]
}

function cpu(scene: Scene, of: MeasuredProgram): Promise<number> {
  return scene.metric(of, 'process_cpu_seconds_total')
}
