import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { useFleet } from '../../../testing/workers/fleet.ts'
import { KeepAliveClient } from '../../../testing/keep-alive-client.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../../testing/process.ts'
import { useOrigin } from '../../../testing/scene.ts'

const CONNECTIONS = 64

describe('two workers', () => {
  test('let exactly the budget through, each part of it once', async (t) => {
    const origin = await useOrigin(t)
    const backends = [{ host: origin.host }]
    const config = useConfigFile(t, limited({ requests: 1000, unit: 'Hours' }, { policies: {}, backends }))
    const program = await useProgram(t, { args: ['-f', config.file] })
    const answers = await drive(program.port(), times(3000))
    assert.deepEqual(answers.passed.sort(descending), countdown(1000))
    assert.equal(answers.refused, 2000)
    assert.equal(origin.seen.length, 1000)
  })

  test('let exactly the budget through in every second', async (t) => {
    const config = useConfigFile(t, limited({ requests: 100, unit: 'Seconds' }))
    const program = await useProgram(t, { args: ['-f', config.file] })
    const startedAt = performance.now()
    let exhausted = 0
    const answers = await drive(
      program.port(),
      () => exhausted < 4,
      (remaining) => (exhausted += remaining === 0 ? 1 : 0),
    )
    const elapsed = performance.now() - startedAt
    // How many windows gave the first of their requests, the second, and so on to the last.
    const windowsByRemaining = Array<number>(100).fill(0)
    for (const remaining of answers.passed) windowsByRemaining[remaining]!++
    const windows = windowsByRemaining.toReversed()
    t.diagnostic(`${answers.passed.length} passed, ${answers.refused} refused, in ${windows[0]} windows`)
    // None twice and none left out: where more of a window was given, everything before it was given too.
    assert.deepEqual(windows, windows.toSorted(descending))
    assert.ok(windows.at(-1)! >= 4)
    // A window begins at the first request, whose time is rounded down to a millisecond.
    assert.ok(windows[0]! <= Math.floor((elapsed + 1) / 1000) + 1)
  })

  test('do not refill a budget when a config goes live', async (t) => {
    const local = { requests: 1000, unit: 'Hours' }
    const config = useConfigFile(t, limited(local))
    const program = await useProgram(t, { args: ['-f', config.file] })
    const before = await drive(program.port(), times(400))
    config.replace(limited(local, { policies: { directResponse: { status: 200, body: 'another' } } }))
    await eventually('live', async () => (await metric(program, 'portico_config_generation')) === 2)
    const after = await drive(program.port(), times(1000))
    assert.deepEqual([...before.passed, ...after.passed].sort(descending), countdown(1000))
    assert.equal(after.refused, 400)

    config.replace(limited({ ...local, burst: 50 }))
    await eventually('live', async () => (await metric(program, 'portico_config_generation')) === 3)
    const more = await drive(program.port(), times(200))
    assert.deepEqual(more.passed.sort(descending), countdown(50))
  })

  test('do not refill a budget when one of them dies', async (t) => {
    const fleet = await useLimitedFleet(t, limited({ requests: 1000, unit: 'Hours' }))
    const before = await drive(fleet.port, times(400))
    await fleet.lose('worker-0')
    const between = await drive(fleet.port, times(300))
    await fleet.lose('worker-1')
    const after = await drive(fleet.port, times(1000))
    const passed = [...before.passed, ...between.passed, ...after.passed]
    assert.deepEqual(passed.sort(descending), countdown(1000))
    assert.equal(after.refused, 700)
  })
})

const answered = { policies: { directResponse: { status: 200, body: 'ok' } } }

/** A config of two workers with one limited route. */
function limited(local: object, route: { policies: object; backends?: object[] } = answered) {
  const routes = [{ name: 'limited', ...route, policies: { ...route.policies, rateLimit: { local: [local] } } }]
  return {
    config: { workers: 2, logging: { level: 'info,request=off' } },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }],
  }
}

/** Sends over many connections at once for as long as `goesOn`; tells what was left to those that passed. */
async function drive(port: number, goesOn: () => boolean, onPassed: (remaining: number) => void = () => {}) {
  const answers = { passed: [] as number[], refused: 0 }
  const load = Array.from({ length: CONNECTIONS }, async () => {
    const client = new KeepAliveClient(port)
    while (goesOn()) {
      const { status, headers } = await client.get('/')
      const remaining = Number(headers['x-ratelimit-remaining'])
      if (status === 200) {
        answers.passed.push(remaining)
        onPassed(remaining)
      } else {
        assert.equal(status, 429)
        assert.equal(remaining, 0)
        answers.refused++
      }
    }
    client.close()
  })
  await Promise.all(load)
  return answers
}

function times(count: number): () => boolean {
  let left = count
  return () => left-- > 0
}

function descending(a: number, b: number): number {
  return b - a
}

/** The remaining numbers that the requests of an exhausted budget got. */
function countdown(from: number): number[] {
  return Array.from({ length: from }, (_, index) => from - 1 - index)
}

/** Workers that can be told to die. */
async function useLimitedFleet(t: TestContext, config: ReturnType<typeof limited>) {
  const fleet = await useFleet(t, { workers: 2 })
  await fleet.apply(config)
  return {
    port: fleet.port(),
    /** Resolves when another one serves in its place. */
    async lose(name: string): Promise<void> {
      const before = fleet.restarts()
      fleet.tell({ name, how: 'die' })
      await eventually('died', () => fleet.restarts() !== before)
      await eventually('two again', () => fleet.supervisor.size === 2)
      await fleet.apply(config)
    },
  }
}
