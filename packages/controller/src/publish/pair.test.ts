import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Ir } from '@portico/gateway/ir'
import { generationOf } from '@portico/gateway/stream'
import * as fc from 'fast-check'
import { type TestDataPlane, useDataPlane } from '../../../gateway/src/testing/controller/data-plane.ts'
import { eventually, useProgram } from '../../../gateway/src/testing/process.ts'
import { request } from '../../../gateway/src/testing/client.ts'
import { closedPort, useOrigin } from '../../../gateway/src/testing/scene.ts'
import { irOf, type PublisherScene, usePublisher } from '../testing/publisher-scene.ts'

/** These tests connect the real publisher with the real client of data planes. */

interface Line {
  address: string
  /** Cuts open connections; new ones are let through. */
  cut: () => void
  /** Sets the port for new connections. */
  to: (port: number) => void
}

/** A TCP relay to the publisher that can be cut. */
async function useLine(t: TestContext, first: number): Promise<Line> {
  let port = first
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => sockets.forEach((socket) => socket.destroy())
  t.after(() => {
    cut()
    server.close()
  })
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, cut, to: (next) => void (port = next) }
}

function useFiles(t: TestContext, { ca }: PublisherScene, pod = 'pod'): { caFile: string; tokenFile: string } {
  const home = mkdtempSync(join(tmpdir(), 'portico-pair-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const [caFile, tokenFile] = [join(home, 'ca.crt'), join(home, 'token')]
  writeFileSync(caFile, ca)
  writeFileSync(tokenFile, `shop/web/${pod}`)
  return { caFile, tokenFile }
}

async function useConnected(t: TestContext, scene: PublisherScene, instance = 'one') {
  const line = await useLine(t, scene.port)
  const files = useFiles(t, scene, instance)
  const plane = useDataPlane(t, { ...files, address: line.address, gateway: 'shop/web', instance, patienceMs: 20 })
  await plane.start()
  return { line, plane, files }
}

const isAt = ({ source }: TestDataPlane, ir: Ir): boolean => source.generation === generationOf(ir)

/** Random changes to a Gateway and to the connections of its data planes. */
const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('publish' as const),
      backends: fc.uniqueArray(fc.tuple(fc.nat(11), fc.nat(2)), { selector: ([key]) => key }),
      policies: fc.uniqueArray(fc.nat(5)),
    }),
    fc.record({
      do: fc.constant('reach' as const),
      addresses: fc.dictionary(fc.stringMatching(/^[a-d]$/), fc.uniqueArray(fc.nat(3)), { noNullPrototype: true }),
    }),
    fc.record({ do: fc.constant('cut' as const), which: fc.nat(1) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.nat(15) }),
  ),
  { minLength: 5, maxLength: 40 },
)

function configOf({ backends, policies }: { backends: [number, number][]; policies: number[] }): Ir {
  return {
    binds: [],
    listeners: [],
    routes: [],
    backends: backends.map(([key, port]) => ({
      key: `backend/${key}`,
      name: String(key),
      target: { kind: 'static', host: 'h', port },
    })),
    policies: policies.map((key) => ({
      key: `policy/${key}`,
      target: { kind: 'gateway' },
      frontend: null,
      traffic: { hostRewrite: { mode: 'Auto' } },
      phase: 'PostRouting',
      backend: null,
    })),
  }
}

describe('a publisher and its data planes', () => {
  it('converge to the same config and addresses after any changes and cuts', async (t) => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const scene = await usePublisher(t)
        const pair = [await useConnected(t, scene, 'one'), await useConnected(t, scene, 'two')]
        let [ir, addresses]: [Ir, Record<string, string[]>] = [irOf(1), {}]
        scene.publisher.publish('shop/web', ir)
        for (const step of sequence) {
          if (step.do === 'cut') pair[step.which]?.line.cut()
          if (step.do === 'wait') await new Promise((resolve) => setTimeout(resolve, step.ms))
          if (step.do === 'publish') scene.publisher.publish('shop/web', (ir = configOf(step)))
          if (step.do !== 'reach') continue
          const entries = Object.entries(step.addresses).map(([key, hosts]) => [
            key,
            hosts.map((host) => `10.0.0.${host}:80`),
          ])
          scene.publisher.reach('shop/web', (addresses = Object.fromEntries(entries) as Record<string, string[]>))
        }
        for (const { plane } of pair) {
          await eventually('both have the newest config', () => isAt(plane, ir))
          await eventually('both know the newest addresses', () => {
            const known = plane.addresses()
            const keys = Object.keys(known)
            return (
              keys.length === Object.keys(addresses).length &&
              keys.every((key) => String(known[key]) === String(addresses[key]) && key in addresses)
            )
          })
          assert.deepEqual(plane.applied.at(-1), ir)
        }
        await eventually('the publisher knows', () => {
          const { acknowledged, connected } = scene.publisher.stateOf('shop/web')
          return acknowledged && connected === 2
        })
        assert.equal(scene.publisher.counts.refused.malformed, 0)
        await Promise.all(pair.map(({ plane }) => plane.source.close()))
        await scene.publisher.close(0)
      }),
      // An interrupted case would leave its sockets open.
      { numRuns: 12, interruptAfterTimeLimit: 120_000 },
    )
  })

  it('after a cut only differences are sent', async (t) => {
    const scene = await usePublisher(t)
    const { publisher } = scene
    publisher.publish('shop/web', irOf(500))
    const { line, plane } = await useConnected(t, scene)
    await eventually('all is there', () => isAt(plane, irOf(500)))
    const whole = publisher.counts.bytes
    assert.ok(whole > 30_000)
    line.cut()
    await eventually('it is gone', () => publisher.stateOf('shop/web').connected === 0)
    const newer = irOf(501, { 250: 'other.example' })
    publisher.publish('shop/web', newer)
    await eventually('the newer one is there', () => isAt(plane, newer))
    assert.deepEqual(plane.applied, [irOf(500), newer])
    assert.ok(publisher.counts.bytes - whole < 1_500, `${publisher.counts.bytes - whole} bytes`)
    await eventually('and said to be', () => publisher.stateOf('shop/web').acknowledged)
  })

  it('a config that one data plane rejects is reported, and the other one serves it', async (t) => {
    const scene = await usePublisher(t)
    const { publisher } = scene
    publisher.publish('shop/web', irOf(1))
    const [one, two] = [await useConnected(t, scene, 'one'), await useConnected(t, scene, 'two')]
    for (const { plane } of [one, two]) await eventually('all have the first', () => isAt(plane, irOf(1)))
    two.plane.refuse(['port 80 is taken'])
    publisher.publish('shop/web', irOf(2))
    await eventually('the refusal is known', () => publisher.stateOf('shop/web').problems.length === 1)
    await eventually('the other serves it', () => isAt(one.plane, irOf(2)))
    await eventually('and says so', () => publisher.stateOf('shop/web').acknowledged)
    assert.deepEqual(publisher.stateOf('shop/web').problems, ['port 80 is taken'])
    assert.ok(isAt(two.plane, irOf(1)))
    two.plane.refuse([])
    publisher.publish('shop/web', irOf(3))
    await eventually('both have the newest', () => isAt(one.plane, irOf(3)) && isAt(two.plane, irOf(3)))
    await eventually('nothing is refused', () => publisher.stateOf('shop/web').problems.length === 0)
  })

  it('a data plane whose workers are gone is known not to serve, on its next stream too, until it serves again', async (t) => {
    const scene = await usePublisher(t)
    const { publisher } = scene
    publisher.publish('shop/web', irOf(1))
    const { plane, line } = await useConnected(t, scene)
    const state = () => publisher.stateOf('shop/web')
    await eventually('it serves', () => state().acknowledged)
    plane.serve(false)
    const unserved = { connected: 1, notServing: 1, acknowledged: false, problems: [] }
    await eventually('it does not serve', () => isDeepStrictEqual(state(), unserved))
    line.cut()
    await eventually('it is gone', () => state().connected === 0)
    await eventually('it says so again', () => isDeepStrictEqual(state(), unserved))
    plane.serve(true)
    await eventually('it serves again', () => state().acknowledged)
    assert.deepEqual(state(), { connected: 1, acknowledged: true, problems: [] })
  })

  it('another publisher, with another authority, resumes where the first one ended', async (t) => {
    const [first, second] = [await usePublisher(t), await usePublisher(t)]
    first.publisher.publish('shop/web', irOf(500))
    const { plane, line, files } = await useConnected(t, first)
    await eventually('all is there', () => isAt(plane, irOf(500)))
    const newer = irOf(500, { 7: 'other.example' })
    second.publisher.publish('shop/web', newer)
    writeFileSync(files.caFile, second.ca)
    line.to(second.port)
    await first.publisher.close(0)
    await eventually('the newer one is there', () => isAt(plane, newer))
    assert.deepEqual(plane.applied, [irOf(500), newer])
    assert.ok(second.publisher.counts.bytes < 1_500, `${second.publisher.counts.bytes} bytes`)
  })

  it('a program serves what is published, and an address that changes', async (t) => {
    const [one, other, port] = [await useOrigin(t), await useOrigin(t), await closedPort()]
    const scene = await usePublisher(t)
    const files = useFiles(t, scene)
    const [bind, listener] = [`bind/${port}`, `bind/${port}/http`]
    const target = { kind: 'service', host: 'orders.shop.svc', port: 80, version: null } as const
    const ir: Ir = {
      binds: [{ key: bind, port, address: '127.0.0.1' }],
      listeners: [{ key: listener, bind, name: 'http', hostname: '', protocol: 'HTTP', tls: null }],
      routes: [
        {
          key: `${listener}/r`,
          listener,
          name: 'r',
          rule: '',
          labels: {},
          hostnames: [],
          matches: [{ path: { kind: 'pathPrefix', value: '/' }, method: null, headers: [], query: [] }],
          backends: [{ key: `${listener}/r/backend/0`, backend: 'backend/s', weight: 1 }],
        },
      ],
      backends: [{ key: 'backend/s', name: 's', target }],
      policies: [],
    }
    scene.publisher.reach('shop/web', { 'backend/s': [`127.0.0.1:${one.port}`] })
    scene.publisher.publish('shop/web', ir)
    const { caFile, tokenFile } = files
    await useProgram(t, {
      env: {
        CONTROLLER_ADDR: `127.0.0.1:${scene.port}`,
        CONTROLLER_CA_FILE: caFile,
        CONTROLLER_TOKEN_FILE: tokenFile,
        NAMESPACE: 'shop',
        GATEWAY: 'web',
        WORKER_THREADS: '1',
      },
    })
    await eventually('it is live', () => scene.publisher.stateOf('shop/web').acknowledged)
    assert.equal((await request(port, {})).status, 200)
    assert.equal(one.seen.length, 1)
    scene.publisher.reach('shop/web', { 'backend/s': [`127.0.0.1:${other.port}`] })
    await eventually(
      'the other one is asked',
      async () => (await request(port, {})).status === 200 && other.seen.length > 0,
    )
  })
})
