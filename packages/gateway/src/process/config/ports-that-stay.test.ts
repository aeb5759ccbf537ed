import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { request } from '../../testing/client.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../testing/process.ts'
import { closedPort, useOrigin } from '../../testing/scene.ts'

/** Each is asked on a connection of its own, so often that a port closed for a moment is found. */
const CLIENTS = 4
const PAUSE_MS = 1
/** Every turn of the ports comes more than once. */
const ROUNDS = process.env['PROPERTIES'] === 'full' ? 24 : 8

test('ports that stay take every connection while ports beside them come and go', async (t) => {
  const origin = await useOrigin(t)
  const [raw, first, second] = [await closedPort(), await closedPort(), await closedPort()]
  const routes = [{ backends: [{ host: origin.host }] }]
  const http = { port: await closedPort(), address: '127.0.0.1', listeners: [{ routes }] }
  const tcp = (port: number) => ({ port, address: '127.0.0.1', listeners: [{ protocol: 'TCP', routes }] })
  const turns = [
    { come: [first], go: [second] },
    { come: [first, second], go: [] },
    { come: [second], go: [first] },
    { come: [], go: [first, second] },
  ]
  const configOf = (come: readonly number[], round: number) => {
    const stay = [http, tcp(raw)]
    const beside = come.map(tcp)
    // The order of binds in the file has no effect.
    return { config: { workers: 2 }, binds: round % 2 === 0 ? [...stay, ...beside] : [...beside, ...stay.toReversed()] }
  }
  const config = useConfigFile(t, configOf([], 0))
  const program = await useProgram(t, { args: ['-f', config.file] })

  const failures: string[] = []
  let connections = 0
  const over = new AbortController()
  const load = [http.port, raw].flatMap((port) =>
    Array.from({ length: CLIENTS }, async () => {
      while (!over.signal.aborted) {
        await request(port).then(
          ({ status }) => status !== 200 && failures.push(`port ${port} answers ${status}`),
          (error: unknown) => failures.push(String(error)),
        )
        connections++
        await wait(PAUSE_MS)
      }
    }),
  )
  try {
    for (let round = 1; round <= ROUNDS; round++) {
      const { come, go } = turns[round % turns.length]!
      config.replace(configOf(come, round))
      await eventually(`config ${round}`, async () => (await metric(program, 'portico_config_generation')) > round)
      for (const port of come) assert.equal((await request(port)).status, 200)
      for (const port of go) await eventually('it is closed', () => isRefused(port))
    }
  } finally {
    over.abort()
    await Promise.all(load)
  }
  t.diagnostic(`${connections} connections`)
  assert.deepEqual(failures, [])
  assert.ok(connections > 10 * ROUNDS, `${connections} connections`)
})

function isRefused(port: number): Promise<boolean> {
  return request(port).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  )
}
