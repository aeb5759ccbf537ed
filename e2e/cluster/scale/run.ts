import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { keepResult } from '../../../bench/results.mjs'
import { withoutBed } from '../bed/programs.ts'
import { noFailures } from './no-failures.ts'
import { type Row, tableOf } from './numbers.ts'
import * as parts from './parts.ts'
import { peer } from './peer.ts'
import { Scene } from './scene.ts'
import { secrets } from './secrets.ts'

/**
 * `npm run scale`: what a cluster with thousands of routes asks of a controller and its data plane, in a bed. `--routes` is
 * how many, `--changes` how many of them are changed, `--only a,b` which parts, `--write` keeps the table in `bench/RESULTS.md`.
 * The part `peer` is another controller on as many routes, and done only when it is named.
 */
const { values } = parseArgs({
  options: {
    routes: { type: 'string', default: '5000' },
    changes: { type: 'string', default: '300' },
    only: { type: 'string', default: 'sync,memory,changes,churn,loop,failures,secrets' },
    write: { type: 'boolean', default: false },
  },
})
if (withoutBed !== false) throw new Error(withoutBed)

const routes = Number(values.routes)
const wanted = new Set(values.only.split(','))
const rows: Row[] = []
const add = async (part: string, run: () => Promise<Row[]>): Promise<void> => {
  if (!wanted.has(part)) return
  const found = await run()
  rows.push(...found)
  console.log(tableOf(found))
}

const scene = await Scene.start()
try {
  const base = wanted.has('memory') ? await parts.dataPlaneBase(scene) : 0
  await scene.create(0, routes)
  await scene.settled(routes)
  await add('sync', () => parts.firstSync(scene, routes))
  await add('memory', () => parts.memory(scene, base))
  await add('changes', () => parts.changes(scene, routes, Number(values.changes)))
  await add('churn', () => parts.churn(scene, { rate: 100, seconds: 30 }))
  await add('failures', () => noFailures(scene))
  await add('loop', () => parts.loop(scene, { from: routes, count: 2 * routes, rounds: 2 }))
  await add('secrets', () => secrets(scene, { count: 2_000, kilobytes: 100 }))
} finally {
  await scene.bed.stop()
}
await add('peer', () => peer(routes, Number(values.changes)))

const machine = `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}`
const shape = `${routes} HTTPRoutes over 500 hostnames and 100 Services; API server, etcd, controller, data plane and clients share the machine. Load average at the end: ${loadavg()[2]?.toFixed(1)}.`
const body = `Machine: ${machine}.\n${shape}\n\n${tableOf(rows)}\n`
console.log(`\n${body}`)
if (values.write) {
  const day = new Date().toISOString().slice(0, 10)
  const heading = `${day} · ${machine} · cluster, ${[...wanted].join(',')}`
  keepResult(fileURLToPath(new URL('../../../bench/RESULTS.md', import.meta.url)), { heading, body })
}
if (rows.some(({ isMet }) => isMet === false)) process.exitCode = 1
