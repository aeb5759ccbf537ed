import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Ir } from '@portico/gateway/ir'
import { generationOf } from '@portico/gateway/stream'
import { ControllerSource } from '../../../gateway/src/sources/controller/controller.ts'
import { createLogger } from '../../../gateway/src/telemetry/log/logger.ts'
import { parseLogFilter } from '../../../gateway/src/telemetry/log/log-filter.ts'
import { irOf, newAuthority, reviewed, servingOf } from '../testing/publisher-scene.ts'
import type { Identity } from './certificate.ts'
import { Publisher } from './publisher.ts'

/** These tests run the real client of data planes on real sockets, with faults between it and its controller. */
describe('a data plane loses nothing', () => {
  it('when the connection is cut anywhere in a line', async (t) => {
    const authority = newAuthority()
    const controller = await useController(t, servingOf(authority))
    controller.publisher.reach('shop/web', { a: ['10.0.0.1:80'] })
    controller.publisher.publish('shop/web', irOf(2_000))
    const way = await useRelay(t, () => controller.port)
    // The handshake is about 3 kB; the config is 200 kB.
    for (const limit of [5_000, 20_000, 100_000, 150_000]) way.cutNextAfter(limit)
    const plane = usePlane(t, { port: way.port, ca: authority.cert })
    await plane.runs(irOf(2_000))
    assert.equal(way.cuts(), 4)
    assert.deepEqual(plane.addresses(), { a: ['10.0.0.1:80'] })
    await until(() => controller.publisher.stateOf('shop/web').acknowledged)
    assert.equal(controller.publisher.stateOf('shop/web').connected, 1)
    assert.equal(plane.applied.length, 1)
  })

  it('when a change is cut: it reports its state, and gets the difference', async (t) => {
    const authority = newAuthority()
    const controller = await useController(t, servingOf(authority))
    controller.publisher.publish('shop/web', irOf(2_000))
    const way = await useRelay(t, () => controller.port)
    const plane = usePlane(t, { port: way.port, ca: authority.cert })
    await plane.runs(irOf(2_000))
    await until(() => controller.publisher.stateOf('shop/web').acknowledged)
    way.cutAfter(1_000)
    const edited = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [index, `new-${index}.example`]))
    const before = controller.publisher.counts.bytes
    controller.publisher.publish('shop/web', irOf(2_000, edited))
    await plane.runs(irOf(2_000, edited))
    assert.equal(way.cuts(), 1)
    const whole = JSON.stringify(irOf(2_000)).length
    assert.ok(controller.publisher.counts.bytes - before < whole, 'what was sent twice is the change alone')
  })

  it('when the controller restarts with a new certificate of its authority', async (t) => {
    const authority = newAuthority()
    const first = await useController(t, servingOf(authority))
    first.publisher.publish('shop/web', irOf(50))
    let port = first.port
    const way = await useRelay(t, () => port)
    const plane = usePlane(t, { port: way.port, ca: authority.cert })
    await plane.runs(irOf(50))
    await first.publisher.close()
    const second = await useController(t, servingOf(authority))
    // The data plane gets nothing before the config of the Gateway is known.
    port = second.port
    await until(() => second.publisher.stateOf('shop/web').connected === 1)
    assert.equal(plane.applied.length, 1)
    second.publisher.publish('shop/web', irOf(50))
    await until(() => second.publisher.stateOf('shop/web').acknowledged)
    // The same generation is not applied again.
    assert.equal(plane.applied.length, 1)
    assert.ok(second.publisher.counts.bytes < 1_000)
    assert.match(plane.log(), /controller is shutting down/)
  })

  it('when the authority is rotated: connections stay, new ones trust both', async (t) => {
    const [old, next] = [newAuthority(), newAuthority()]
    const controller = await useController(t, servingOf(old))
    controller.publisher.publish('shop/web', irOf(1))
    const way = await useRelay(t, () => controller.port)
    const plane = usePlane(t, { port: way.port, ca: old.cert })
    await plane.runs(irOf(1))
    // The successor is distributed first, and signs later.
    plane.trust(old.cert + next.cert)
    controller.publisher.renew(servingOf(next))
    controller.publisher.publish('shop/web', irOf(2))
    await plane.runs(irOf(2))
    assert.equal(way.connections(), 1)
    way.cutAfter(0)
    controller.publisher.publish('shop/web', irOf(3))
    await plane.runs(irOf(3))
    plane.trust(next.cert + old.cert)
    way.cutAfter(0)
    controller.publisher.publish('shop/web', irOf(4))
    await plane.runs(irOf(4))
  })

  it('when its authority was replaced without rotation: it keeps serving, and reconnects once it has the new one', async (t) => {
    const [old, other] = [newAuthority(), newAuthority()]
    const controller = await useController(t, servingOf(old))
    controller.publisher.publish('shop/web', irOf(1))
    const way = await useRelay(t, () => controller.port)
    const plane = usePlane(t, { port: way.port, ca: old.cert })
    await plane.runs(irOf(1))
    controller.publisher.renew(servingOf(other))
    way.cutAfter(0)
    controller.publisher.publish('shop/web', irOf(2))
    await until(() => controller.publisher.counts.refused.handshake > 0)
    assert.deepEqual(plane.applied, [irOf(1)])
    plane.trust(other.cert)
    await plane.runs(irOf(2))
  })

  it('when tokens cannot be reviewed for a while', async (t) => {
    const authority = newAuthority()
    let isAway = true
    const controller = await useController(t, servingOf(authority), (token) =>
      isAway ? Promise.reject(new Error('away')) : reviewed(token),
    )
    controller.publisher.publish('shop/web', irOf(1))
    const plane = usePlane(t, { port: controller.port, ca: authority.cert })
    await until(() => controller.publisher.counts.refused.review_failed >= 2)
    assert.equal(plane.applied.length, 0)
    isAway = false
    await plane.runs(irOf(1))
  })
})

async function useController(t: TestContext, serving: Identity, review = reviewed) {
  const log = (): void => {}
  const publisher = new Publisher({
    review,
    serviceAccountOf: (gateway) => gateway.split('/')[1] ?? '',
    changed: () => {},
    log: { debug: log, info: log, warn: log },
  })
  const port = await publisher.listen(serving, { port: 0, host: '127.0.0.1' })
  t.after(() => publisher.close(0))
  return { publisher, port }
}

interface Relay {
  port: number
  /** Cuts the open connection after this many more bytes from the controller. */
  cutAfter(bytes: number): void
  /** Limits the next connection to this many bytes; each call limits one more. */
  cutNextAfter(bytes: number): void
  cuts(): number
  connections(): number
}

/** A TCP relay between a data plane and its controller. */
async function useRelay(t: TestContext, target: () => number): Promise<Relay> {
  const limits: number[] = []
  const open = new Set<{ end: () => void; left: number }>()
  let cuts = 0
  let connections = 0
  const server: Server = createServer((near: Socket) => {
    connections++
    const far = connect(target(), '127.0.0.1')
    const one = { left: limits.shift() ?? Infinity, end: () => [near, far].forEach((socket) => socket.destroy()) }
    open.add(one)
    far.on('data', (bytes: Buffer) => {
      near.write(bytes.subarray(0, one.left))
      one.left -= bytes.length
      if (one.left > 0) return
      cuts++
      near.end(() => one.end())
      far.destroy()
    })
    near.pipe(far)
    for (const socket of [near, far]) {
      socket.on('error', () => one.end())
      socket.on('close', () => {
        one.end()
        open.delete(one)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const { end } of open) end()
    server.close()
    await once(server, 'close')
  })
  return {
    port: (server.address() as AddressInfo).port,
    cutAfter: (bytes) => open.forEach((one) => (one.left = bytes)),
    cutNextAfter: (bytes) => void limits.push(bytes),
    cuts: () => cuts,
    connections: () => connections,
  }
}

function usePlane(t: TestContext, { port, ca }: { port: number; ca: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-faults-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [caFile, tokenFile] = [join(folder, 'ca.crt'), join(folder, 'token')]
  writeFileSync(caFile, ca)
  writeFileSync(tokenFile, 'shop/web/web-1\n')
  const filter = parseLogFilter('debug')
  assert.ok(filter.ok)
  let lines = ''
  const root = createLogger({ filter: filter.value, format: 'text', write: (line) => void (lines += line) })
  const applied: Ir[] = []
  let addresses = new Map<string, readonly string[]>()
  const source = new ControllerSource({
    address: `127.0.0.1:${port}`,
    caFile,
    tokenFile,
    gateway: 'shop/web',
    instance: 'web-1',
    version: '1',
    firstPauseMs: 5,
    mostPauseMs: 20,
    target: {
      quarantined: () => [],
      isServing: () => true,
      services: {
        takeAll: (all) => void (addresses = new Map(all)),
        take({ put, drop }) {
          for (const [key, value] of put) addresses.set(key, value)
          for (const key of drop) addresses.delete(key)
        },
        all: () => [...addresses],
      },
      apply(ir) {
        applied.push(ir)
        return Promise.resolve([])
      },
    },
    kept: null,
    log: root.child('controller'),
  })
  t.after(() => source.close())
  void source.start()
  return {
    applied,
    addresses: () => Object.fromEntries(addresses),
    log: () => lines,
    trust: (bundle: string) => writeFileSync(caFile, bundle),
    runs: (ir: Ir) => until(() => source.generation === generationOf(ir)),
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5))
}
