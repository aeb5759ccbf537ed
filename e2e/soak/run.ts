import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { eventually, type Program } from '../../packages/gateway/src/testing/process.ts'
import { closedPort } from '../../packages/gateway/src/testing/scene.ts'
import { useServer } from '../extensions/servers.ts'
import { type LiveMemory, liveMemory, useProbedProgram } from '../probed-program.ts'
import { Crowd } from './crowd.ts'
import { type Counterparts, type Feature, features } from './features.ts'

/**
 * `npm run soak`: what a worker holds after its garbage is collected does not grow with the requests it has served, whatever
 * feature they pass. `--requests` is how many for each feature, `--seconds` how long at most, `--only a,b` which features.
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '600' },
    only: { type: 'string', default: Object.keys(features).join(',') },
  },
})

const CLIENTS = 32
/** Time limit for one feature, including its start and all measurements. */
const LIMIT_MS = Number(values.seconds) * 1000 + 600_000
/** The first is for the just-in-time compiler. */
const STRETCHES = 13
/**
 * The least of the last third of the looks against the least of the first, because a batch that waits for the collector is no
 * leak and is not there at every look. A request that leaves 3 bytes behind is found in a million of them.
 */
const MOST_GROWTH = 2 * 2 ** 20

for (const name of values.only.split(',')) {
  const feature = features[name]
  assert.ok(feature, `there is no ${name}; there are ${Object.keys(features).join(', ')}`)
  test(`memory is flat: ${name}`, { timeout: LIMIT_MS }, (t) => soak(t, feature))
}

async function soak(t: TestContext, feature: Feature): Promise<void> {
  const ports = { origin: await useOrigin(t), services: await useServices(t) }
  const program = await useProbedProgram(t, configOf(feature, ports))
  const crowd = new Crowd(program.port(), CLIENTS)
  t.after(() => crowd.close())
  const begun = performance.now()
  const looks: LiveMemory[] = []
  for (let stretch = 0; stretch < STRETCHES; stretch++) {
    await crowd.ask(Number(values.requests) / STRETCHES, (Number(values.seconds) * 1000) / STRETCHES)
    await settled(program, feature, crowd.answers.get(200) ?? 0)
    looks.push(await liveMemory(program))
  }
  const rate = (crowd.asked / (performance.now() - begun)) * 1000
  const { growth, text } = judged(looks.slice(1))
  t.diagnostic(
    `${crowd.asked.toLocaleString('en')} requests, ${Math.round(rate).toLocaleString('en')} a second; ${text}`,
  )
  assert.deepEqual(new Set(crowd.answers.keys()), new Set([200, 0]), `answers: ${[...crowd.answers].join('; ')}`)
  assert.ok(growth < MOST_GROWTH, `live heap grew by ${megabytes(growth)}: ${text}`)
}

async function settled(program: Program, { isSettled }: Feature, answered: number): Promise<void> {
  await eventually('nothing is under way', () => isSettled?.(program, answered) ?? true)
}

function judged(looks: readonly LiveMemory[]): { growth: number; text: string } {
  const heaps = looks.map(({ heap }) => heap)
  const third = Math.floor(heaps.length / 3)
  const growth = Math.min(...heaps.slice(-third)) - Math.min(...heaps.slice(0, third))
  const resident = looks.at(-1)?.resident ?? 0
  return { growth, text: `live heap ${heaps.map(megabytes).join(', ')}; resident ${megabytes(resident)}` }
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(2)} MB`
}

function configOf({ policies, frontend }: Feature, ports: Counterparts): object {
  const route = { policies: policies?.(ports) ?? {}, backends: [{ host: `127.0.0.1:${ports.origin}` }] }
  return {
    ...(frontend && { frontend: frontend(ports) }),
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [route] }] }],
  }
}

/** As cheap as can be: one answer for whatever comes in one piece, as requests without a body do. */
async function useOrigin(t: TestContext): Promise<number> {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello'
  const server = createServer({ noDelay: true }, (socket) => {
    let received = ''
    socket.on('error', () => socket.destroy())
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text
      for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
        received = received.slice(end + 4)
        socket.write(answer)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

async function useServices(t: TestContext): Promise<number> {
  const port = await closedPort()
  const program = fileURLToPath(new URL('../../bench/services.mjs', import.meta.url))
  await useServer(t, { program: process.execPath, args: [program, String(port)], ports: [port] })
  return port
}
