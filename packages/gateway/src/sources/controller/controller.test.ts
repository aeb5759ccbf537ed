import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { EMPTY_IR } from '../../ir/change.ts'
import type { AttachedPolicy, Ir } from '../../ir/resources.ts'
import { endpointHashesOf, endpointPart, generationOf } from '../../stream/index.ts'
import { KeptConfig } from '../../stream/kept-config.ts'
import { createLogger } from '../../telemetry/log/logger.ts'
import { parseLogFilter } from '../../telemetry/log/log-filter.ts'
import { createAuthority } from '../../testing/certificates.ts'
import { SESSION_KEY, useDataPlane } from '../../testing/controller/data-plane.ts'
import { eventually } from '../../testing/process.ts'
import { useController } from '../../testing/controller/scripted-controller.ts'

/** Backends that are told apart by their ports. */
function irOf(...ports: number[]): Ir {
  const backends = ports.map((port) => ({
    key: `backend/${port}`,
    name: String(port),
    target: { kind: 'static' as const, host: 'h', port },
  }))
  return { ...EMPTY_IR, backends }
}

function policy(parts: object): AttachedPolicy {
  const base = { key: 'p', target: { kind: 'gateway' }, frontend: null, traffic: null, backend: null }
  return { ...base, phase: 'PostRouting', ...parts } as AttachedPolicy
}

function useFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-kept-'))
  // It ends by itself, and may be writing still.
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

describe('a data plane and its controller', () => {
  it('it says who it is and what it has, and takes changes of that', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    const stream = await controller.stream(0)
    const hello = { type: 'hello', gateway: 'shop/edge', instance: 'pod-1', version: '1.2.3', have: null }
    assert.deepEqual(stream.hello, { ...hello, endpoints: endpointHashesOf([]) })
    assert.equal(stream.authorization, 'Bearer the-token')
    await stream.live(irOf(1, 2, 3))
    const { change } = stream.config(irOf(3, 1, 4))
    assert.equal(change.backends.put.length, 2)
    await eventually('the second is live', () => plane.applied.length === 2)
    assert.deepEqual(plane.applied, [irOf(1, 2, 3), irOf(3, 1, 4)])
    assert.equal(plane.source.generation, generationOf(irOf(3, 1, 4)))
    // Unchanged parts are the same objects, so they are not compiled again.
    assert.equal(plane.applied[1]?.backends[1], plane.applied[0]?.backends[0])
  })

  it('a config that is refused is refused as a whole, and the next one is made of it all the same', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    const stream = await controller.stream(0)
    await stream.live(irOf(1))
    plane.refuse(['port 80 is taken'])
    const { generation } = stream.config(irOf(1, 2))
    await eventually('it is refused', () => stream.has({ type: 'nack', generation, problems: ['port 80 is taken'] }))
    assert.equal(plane.source.generation, generationOf(irOf(1)))
    assert.match(plane.log(), /config from the controller rejected.*\n.*port 80 is taken/)
    plane.refuse([])
    await stream.live(irOf(1, 2, 3))
    assert.deepEqual(plane.applied, [irOf(1), irOf(1, 2, 3)])
    assert.deepEqual(plane.source.counts, { received: 3, acked: 2, nacked: 1 })
  })

  it('while one is applied only the newest waits', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    const go = plane.pause()
    await plane.start()
    const stream = await controller.stream(0)
    for (let port = 1; port <= 5; port++) stream.config(irOf(port))
    stream.send({ type: 'ping' })
    await eventually('all are here', () => stream.has({ type: 'pong' }))
    go()
    await eventually('the newest is live', () => stream.has({ type: 'ack', generation: generationOf(irOf(5)) }))
    assert.deepEqual(plane.applied, [irOf(1), irOf(5)])
    assert.equal(stream.answers().length, 2)
  })

  it('addresses of Services come beside configs, as a whole and by what differs', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    const stream = await controller.stream(0)
    stream.send({
      type: 'endpoints',
      whole: true,
      put: [
        ['a', ['10.0.0.1:80']],
        ['b', []],
      ],
      drop: [],
    })
    stream.send({ type: 'endpoints', whole: false, put: [['c', ['[fd00::7]:80']]], drop: ['a'] })
    await stream.live(irOf(1))
    assert.deepEqual(plane.addresses(), { b: [], c: ['[fd00::7]:80'] })
    assert.equal(plane.applied.length, 1)
  })

  it('it comes back with what it has, and is sent what differs', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    const first = await controller.stream(0)
    first.send({
      type: 'endpoints',
      whole: true,
      put: [
        ['a', ['10.0.0.1:80']],
        ['b', []],
      ],
      drop: [],
    })
    await first.live(irOf(1, 2, 3))
    assert.equal(plane.source.isConnected, true)
    await controller.stop()
    await eventually('it knows', () => !plane.source.isConnected)
    writeFileSync(controller.tokenFile, 'another-token')
    await controller.start()
    const second = await controller.stream(1)
    assert.equal(second.authorization, 'Bearer another-token')
    second.knows(irOf(1, 2, 3))
    second.send({ type: 'endpoints', whole: true, put: [['a', ['10.0.0.2:80']]], drop: [] })
    const { change } = second.config(irOf(1, 2, 3, 4))
    assert.deepEqual(
      change.backends.put.map(({ resource }) => resource.key),
      ['backend/4'],
    )
    await eventually('it is live', () => plane.applied.length === 2)
    assert.deepEqual(plane.addresses(), { a: ['10.0.0.2:80'] })
  })

  it('it says which addresses it has, and those of which nobody speaks then stay', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    const first = await controller.stream(0)
    const known: [string, string[]][] = ['a', 'b', 'c'].map((key) => [key, ['10.0.0.1:80']])
    first.send({ type: 'endpoints', whole: true, put: known, drop: [] })
    await first.live(irOf(1))
    await controller.stop()
    await controller.start()
    const second = await controller.stream(1)
    second.knows(irOf(1))
    assert.deepEqual(second.hello.endpoints, endpointHashesOf(known))
    const parts = ['a', 'b'].map(endpointPart)
    second.send({ type: 'endpoints', whole: true, parts, put: [['a', ['10.0.0.2:80']]], drop: [] })
    await second.live(irOf(1, 2))
    assert.deepEqual(plane.addresses(), { a: ['10.0.0.2:80'], c: ['10.0.0.1:80'] })
  })

  it('a config that it has already is acknowledged, and not applied again', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    await (await controller.stream(0)).live(irOf(1))
    controller.streams[0]?.cut()
    const second = await controller.stream(1)
    second.knows(irOf(1))
    await second.live(irOf(1))
    assert.equal(plane.applied.length, 1)
  })

  it('a goodbye brings it back', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    const first = await controller.stream(0)
    first.send({ type: 'goodbye', reason: 'upgrade' })
    await controller.stream(1)
    assert.match(plane.log(), /the controller closed the stream: upgrade/)
  })

  const breaches: Record<string, string> = {
    'a line that is no message': '{"type":"config"}\n',
    'a change of a config that is not here': JSON.stringify({
      type: 'config',
      generation: generationOf(EMPTY_IR),
      base: generationOf(irOf(9)),
      change: Object.fromEntries(Object.keys(EMPTY_IR).map((list) => [list, { put: [], drop: [] }])),
    }),
    'a change that makes another config than it says': JSON.stringify({
      type: 'config',
      generation: generationOf(irOf(9)),
      base: null,
      change: Object.fromEntries(Object.keys(EMPTY_IR).map((list) => [list, { put: [], drop: [] }])),
    }),
    'first endpoints that are not whole': '{"type":"endpoints","whole":false,"put":[],"drop":[]}\n',
  }
  for (const [name, line] of Object.entries(breaches)) {
    it(`${name} ends the stream, and what is live stays`, async (t) => {
      const controller = await useController(t)
      const plane = useDataPlane(t, controller)
      await plane.start()
      const first = await controller.stream(0)
      await first.live(irOf(1))
      first.sendText(`${line.trimEnd()}\n`)
      const second = await controller.stream(1)
      second.knows(irOf(1))
      assert.equal(plane.applied.length, 1)
    })
  }

  it('a controller that is silent is taken for dead', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, { ...controller, silenceLimitMs: 120 })
    await plane.start()
    await controller.stream(0)
    await controller.stream(1)
    assert.match(plane.log(), /it has been silent for too long/)
  })

  it('one that pings is not, and hears the pong', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, { ...controller, silenceLimitMs: 600 })
    await plane.start()
    const stream = await controller.stream(0)
    for (let pings = 1; pings <= 12; pings++) {
      stream.send({ type: 'ping' })
      await eventually('a pong', () => stream.received.filter(({ type }) => type === 'pong').length === pings)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    assert.equal(controller.streams.length, 1)
  })

  it('whoever shows a certificate of another authority, or for another name, is told nothing', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    writeFileSync(controller.caFile, createAuthority().cert)
    await plane.start()
    await eventually('it is refused', () => /controller unavailable.*cause=.*(certificate|signature)/.test(plane.log()))
    assert.equal(controller.streams.length, 0)
    // The file is read again, so a new authority needs no restart.
    writeFileSync(controller.caFile, controller.authority.cert)
    await controller.stream(0)

    const elsewhere = await useController(t, 'other.example')
    const other = useDataPlane(t, elsewhere)
    await other.start()
    await eventually('it is refused', () => /controller unavailable.*altnames/.test(other.log()))
    assert.equal(elsewhere.streams.length, 0)
  })

  it('a controller that sends it away, and files that are missing, are tried again', async (t) => {
    const controller = await useController(t)
    controller.refuse(403)
    const plane = useDataPlane(t, controller)
    rmSync(controller.tokenFile)
    await plane.start()
    await eventually('the file is missing', () => /controller unavailable.*token/.test(plane.log()))
    writeFileSync(controller.tokenFile, 't')
    await eventually('it is sent away', () =>
      /controller unavailable.*it answers with status 403: not for you/.test(plane.log()),
    )
    controller.refuse(null)
    await controller.stream(0)
    assert.doesNotMatch(plane.log(), /the-token/)
  })

  it('no program is started for a controller', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    const stream = await controller.stream(0)
    const reached = { by: 'stdio', command: 'rm', args: ['-rf', '/'], env: {} }
    const mcp = { kind: 'mcp', targets: [{ key: 'b/section/t', name: 't', reached, tools: null, timeouts: {} }] }
    const backends = [{ key: 'b', name: 'b', target: mcp }] as unknown as Ir['backends']
    const { generation } = stream.config({ ...EMPTY_IR, backends })
    const problem = 'b/section/t: found a program to run, which only config files may have'
    const quarantined = [{ object: 'b', problem, units: ['backend b'] }]
    await eventually('it is closed', () => stream.has({ type: 'ack', generation, quarantined }))
    assert.deepEqual(
      plane.applied[0]?.backends.map(({ target }) => target.kind),
      ['invalid'],
    )
  })

  it('a socket of a volume that Pods share is taken, as resources may name one', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    const stream = await controller.stream(0)
    const backends = [
      { key: 'u', name: 'u', target: { kind: 'unix', path: '/run/shop.sock' } },
    ] as unknown as Ir['backends']
    await stream.live({ ...EMPTY_IR, backends })
    assert.deepEqual(plane.applied, [{ ...EMPTY_IR, backends }])
  })

  it('resources with unknown parts are closed each by itself, and named', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    const stream = await controller.stream(0)
    const backend = { key: 'b', name: 'b', target: { kind: 'teleport' } } as unknown as Ir['backends'][number]
    stream.config({
      ...EMPTY_IR,
      backends: [backend],
      policies: [
        policy({ traffic: { moat: {}, cors: { allowOrigins: ['*'], allowPlanets: ['secret'] } } }),
        policy({ key: 'q', traffic: { rateLimit: { local: [{ requests: 1, unit: 'Fortnights' }] } } }),
      ],
    })
    await eventually('it is answered', () => stream.answers().length === 1)
    const [answer] = stream.answers()
    assert.ok(answer?.type === 'ack')
    const problem = 'found a kind of backend that this version does not know'
    assert.deepEqual(answer.quarantined, [{ object: 'b', problem, units: ['backend b'] }])
    assert.deepEqual(
      plane.applied[0]?.policies.map(({ traffic, unknown }) => [traffic, unknown]),
      [
        [
          null,
          'found `traffic.moat`, which this version does not know; found `traffic.cors.allowPlanets`, which this version does not know',
        ],
        [null, 'found `traffic.rateLimit.local[0].unit`, which this version does not know'],
      ],
    )
  })

  it('a listener that this version does not know refuses the config', async (t) => {
    const controller = await useController(t)
    const plane = useDataPlane(t, controller)
    await plane.start()
    const stream = await controller.stream(0)
    const listener = { key: 'l', bind: 'b', name: 'l', hostname: '', protocol: 'HTTP', tls: null, moat: true }
    stream.config({ ...EMPTY_IR, listeners: [listener] as unknown as Ir['listeners'] })
    await eventually('it is refused', () => stream.answers()[0]?.type === 'nack')
    assert.equal(plane.applied.length, 0)
  })
})

describe('the config kept on disk', () => {
  const secret = 'a-secret-of-the-config'
  const withSecret: Ir = {
    ...irOf(1),
    policies: [policy({ traffic: { cors: { allowOrigins: [secret] } } })],
  }

  async function keep(t: TestContext, folder: string): Promise<void> {
    const controller = await useController(t)
    const plane = useDataPlane(t, { ...controller, folder })
    await plane.start()
    const stream = await controller.stream(0)
    stream.send({
      type: 'endpoints',
      whole: true,
      put: [
        ['a', ['10.0.0.1:80']],
        ['b', ['10.0.0.2:80']],
      ],
      drop: [],
    })
    await stream.live(withSecret)
    stream.send({ type: 'endpoints', whole: false, put: [['a', ['10.0.0.3:80']]], drop: ['b'] })
    stream.send({ type: 'ping' })
    await eventually('all is here', () => stream.has({ type: 'pong' }))
    await plane.source.close()
    await controller.stop()
  }

  it('is served with the controller away, addresses too', async (t) => {
    const folder = useFolder(t)
    await keep(t, folder)
    const controller = await useController(t)
    await controller.stop()
    const later = useDataPlane(t, { ...controller, folder, clock: () => Date.now() + 60_000 })
    await later.start()
    assert.deepEqual(later.applied, [withSecret])
    assert.deepEqual(later.addresses(), { a: ['10.0.0.3:80'] })
    assert.equal(later.source.generation, generationOf(withSecret))
    assert.equal(later.source.isConnected, false)
    assert.ok((later.source.ageSeconds ?? 0) >= 60)
    await controller.start()
    const stream = await controller.stream(0)
    stream.knows(withSecret)
    await stream.live(irOf(1, 2))
    assert.equal(later.applied.length, 2)
  })

  it('is sealed, for its owner alone', async (t) => {
    const folder = useFolder(t)
    await keep(t, folder)
    const files = readdirSync(folder)
    assert.deepEqual(files.toSorted(), ['controller-config.sealed', 'controller-endpoints.sealed'])
    for (const name of files) {
      const file = join(folder, name)
      assert.equal(statSync(file).mode & 0o777, 0o600)
      const bytes = readFileSync(file)
      for (const text of [secret, '10.0.0.3', 'backend']) assert.ok(!bytes.includes(text))
    }
  })

  const spoil: Record<string, { change?: (folder: string) => void; key?: string; gateway?: string; version?: string }> =
    {
      'is damaged': {
        change(folder) {
          const file = join(folder, 'controller-config.sealed')
          const bytes = readFileSync(file)
          bytes[bytes.length >> 1]! ^= 1
          writeFileSync(file, bytes)
        },
      },
      'is cut off': {
        change(folder) {
          const file = join(folder, 'controller-config.sealed')
          writeFileSync(file, readFileSync(file).subarray(0, 20))
        },
      },
      'is empty': { change: (folder) => writeFileSync(join(folder, 'controller-config.sealed'), '') },
      'was sealed with another key': { key: 'fedcba9876543210'.repeat(4) },
      'is of another Gateway': { gateway: 'shop/other' },
      'is of another version': { version: '1.2.4' },
    }
  for (const [name, { change, ...options }] of Object.entries(spoil)) {
    it(`that ${name} is ignored, and a line says so`, async (t) => {
      const folder = useFolder(t)
      await keep(t, folder)
      change?.(folder)
      const controller = await useController(t)
      const later = useDataPlane(t, { ...controller, folder, ...options })
      await later.start()
      assert.equal(later.source.generation, null)
      assert.match(later.log(), /stored config ignored/)
      const stream = await controller.stream(0)
      assert.equal(stream.hello.have, null)
      await stream.live(irOf(1))
    })
  }

  it('that cannot go live leaves it to the controller', async (t) => {
    const folder = useFolder(t)
    await keep(t, folder)
    const controller = await useController(t)
    const later = useDataPlane(t, { ...controller, folder })
    later.refuse(['port 80 is taken'])
    await later.start()
    const stream = await controller.stream(0)
    assert.equal(stream.hello.have, null)
  })

  it('opens with an older key, while a newer one seals', (t) => {
    const folder = useFolder(t)
    const filter = parseLogFilter('off')
    assert.ok(filter.ok)
    const log = createLogger({ filter: filter.value, format: 'text', write() {} }).child('controller')
    const [old, now] = [SESSION_KEY, 'fedcba9876543210'.repeat(4)]
    const kept = (keys: string[]) => new KeptConfig({ folder, keys, gateway: 'a/b', log })
    const first = kept([old])
    first.keep('config', () => ({ some: 'thing' }))
    return first.flush().then(async () => {
      const both = kept([now, old])
      assert.deepEqual(both.read('config'), { some: 'thing' })
      both.keep('config', () => ({ other: 'thing' }))
      await both.flush()
      assert.deepEqual(kept([now]).read('config'), { other: 'thing' })
      assert.equal(kept([old]).read('config'), undefined)
    })
  })

  it('that cannot be written says so, and nothing else stops', async (t) => {
    const folder = useFolder(t)
    const file = join(folder, 'no-folder')
    writeFileSync(file, '')
    const controller = await useController(t)
    const plane = useDataPlane(t, { ...controller, folder: file })
    await plane.start()
    const stream = await controller.stream(0)
    await stream.live(irOf(1))
    await eventually('it says so', () => /stored config not written/.test(plane.log()))
    await stream.live(irOf(2))
  })
})
