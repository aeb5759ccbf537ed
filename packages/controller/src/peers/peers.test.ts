import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createSecureServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { generationOf } from '@portico/gateway/stream'
import type { Resource } from '@portico/translate'
import type { Identity } from '../publish/certificate.ts'
import { eventually } from '../testing/eventually.ts'
import { irOf, newAuthority, type PublisherScene, servingOf, usePublisher } from '../testing/publisher-scene.ts'
import type { GatewayState } from '../status/gateway-status-tracker.ts'
import { PEERS_PATH } from './peer-messages.ts'
import { Peers, type PeersOptions } from './peers.ts'

const SERVICE = 'portico-system/portico-controller'
const NOBODY: GatewayState = { connected: 0, acknowledged: false, problems: [] }
const GENERATION = generationOf(irOf(3))

describe('the leading controller', () => {
  it('knows the state of data planes at other controllers', async (t) => {
    const other = await usePublisher(t)
    const { peers, changed } = usePeers(t, other)
    other.publisher.publish('shop/web', irOf(3))
    peers.lead()
    await eventually('it is heard', () => !peers.isIncomplete)
    assert.deepEqual(peers.complete('shop/web', NOBODY, GENERATION), NOBODY)
    const dataPlane = other.connect().hello()
    await dataPlane.received('config')
    await eventually('it is connected', () => peers.complete('shop/web', NOBODY, GENERATION).connected === 1)
    assert.equal(peers.complete('shop/web', NOBODY, GENERATION).acknowledged, false)
    dataPlane.ack()
    await eventually('it is acknowledged', () => peers.complete('shop/web', NOBODY, GENERATION).acknowledged)
    dataPlane.send({ type: 'health', serving: false })
    const unserved = { connected: 1, notServing: 1, acknowledged: false, problems: [] }
    const completed = (): GatewayState => peers.complete('shop/web', NOBODY, GENERATION)
    await eventually('it does not serve', () => isDeepStrictEqual(completed(), unserved))
    dataPlane.send({ type: 'health', serving: true })
    await eventually('it serves again', () => completed().acknowledged && completed().notServing === undefined)
    assert.equal(peers.complete('shop/web', NOBODY, generationOf(irOf(4))).acknowledged, false)
    assert.equal(peers.complete('shop/web', NOBODY, null).acknowledged, false)
    assert.deepEqual(peers.complete('bank/web', NOBODY, GENERATION), NOBODY)
    assert.ok(changed.every((gateway) => gateway === 'shop/web'))
    other.publisher.publish('shop/web', irOf(4))
    await dataPlane.received('config', 2)
    dataPlane.send({ type: 'nack', generation: generationOf(irOf(4)), problems: ['route cart: not like that'] })
    const problems = (): string => peers.complete('shop/web', NOBODY, null).problems.join()
    await eventually('it is refused', () => problems() === 'route cart: not like that')
    const own = { connected: 2, acknowledged: true, problems: ['mine'] }
    const expected = { connected: 3, acknowledged: true, problems: ['mine'] }
    assert.deepEqual(peers.complete('shop/web', own, null), expected)
    dataPlane.close()
    await eventually('it is gone', () => peers.complete('shop/web', NOBODY, GENERATION).connected === 0)
  })

  it('connects to the others only while it leads, and only to those that exist', async (t) => {
    const other = await usePublisher(t)
    const { peers, sights } = usePeers(t, other)
    other.publisher.publish('shop/web', irOf(3))
    await other.connect().hello().received('config')
    assert.equal(peers.isIncomplete, false)
    peers.lead()
    assert.equal(peers.isIncomplete, true)
    await eventually('it is heard', () => peers.complete('shop/web', NOBODY, GENERATION).connected === 1)
    assert.equal(peers.isIncomplete, false)
    peers.take('portico-system/1', undefined)
    assert.deepEqual([peers.complete('shop/web', NOBODY, GENERATION), peers.isIncomplete], [NOBODY, false])
    peers.take('portico-system/1', slice(other.port))
    await eventually('it is heard again', () => peers.complete('shop/web', NOBODY, GENERATION).connected === 1)
    peers.follow()
    assert.deepEqual([peers.complete('shop/web', NOBODY, GENERATION), peers.isIncomplete], [NOBODY, false])
    assert.ok(sights.count >= 5)
  })

  it('misses a controller that ends or is silent, until it is back', async (t) => {
    const first = await usePublisher(t)
    const { peers } = usePeers(t, first)
    first.publisher.publish('shop/web', irOf(3))
    await first.connect().hello().received('config')
    peers.lead()
    await eventually('it is heard', () => peers.complete('shop/web', NOBODY, GENERATION).connected === 1)
    await first.publisher.close(0)
    await eventually('it is not heard', () => peers.isIncomplete)
    assert.deepEqual(peers.complete('shop/web', NOBODY, GENERATION), NOBODY)
    const mute = await useMute(t, first.identity)
    peers.take('portico-system/1', slice(mute.port))
    await eventually('the silent one was left', () => mute.streams > 1)
    assert.equal(peers.isIncomplete, true)
    const next = await usePublisher(t, {}, first.authority)
    peers.take('portico-system/1', slice(next.port))
    await eventually('the next is heard', () => !peers.isIncomplete)
  })
})

describe('the state of data planes is not sent to', () => {
  for (const who of ['no certificate', 'a certificate of another authority'] as const) {
    it(`a client with ${who}, whatever token it has`, async (t) => {
      const scene = await usePublisher(t)
      scene.publisher.publish('shop/web', irOf(3))
      await scene.connect().hello().received('config')
      const { cert, key } = servingOf(newAuthority())
      const shown = who === 'no certificate' ? {} : { cert, key }
      const session = connect(`https://127.0.0.1:${scene.port}`, { ca: scene.ca, ...shown })
      t.after(() => session.destroy())
      const stream = session.request({ ':path': PEERS_PATH, authorization: 'Bearer good' })
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
      let text = ''
      for await (const part of stream) text += String(part)
      assert.deepEqual([headers[':status'], text], [403, 'controller certificate missing\n'])
      assert.equal(scene.publisher.counts.refused.no_controller, 1)
    })
  }
})

function usePeers(t: TestContext, other: PublisherScene) {
  const changed: string[] = []
  const sights = { count: 0 }
  const log = (): void => undefined
  const options: PeersOptions = {
    service: SERVICE,
    pod: 'me',
    serverName: 'localhost',
    identity: () => other.identity,
    changed: (gateways) => changed.push(...gateways),
    peersChanged: () => (sights.count += 1),
    log: { info: log, warn: log, debug: log },
    backoff: { firstMs: 5, mostMs: 20 },
    silenceMs: 2_000,
  }
  const peers = new Peers(options)
  t.after(() => peers.follow())
  peers.take('portico-system/1', slice(other.port))
  return { peers, changed, sights }
}

/** A server that accepts the request and stays silent. */
async function useMute(t: TestContext, { cert, key }: Identity): Promise<{ port: number; streams: number }> {
  const server = createSecureServer({ cert, key })
  const mute = { port: 0, streams: 0 }
  server.on('stream', (stream) => {
    mute.streams += 1
    stream.on('error', () => undefined)
    ;(stream as ServerHttp2Stream).respond({ ':status': 200 })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  mute.port = (server.address() as AddressInfo).port
  return mute
}

function slice(port: number): Resource {
  const labels = { 'kubernetes.io/service-name': 'portico-controller' }
  const metadata = { namespace: 'portico-system', name: '1', labels }
  const pod = (name: string) => ({ addresses: ['127.0.0.1'], targetRef: { kind: 'Pod', name } })
  const facts = { ports: [{ name: 'stream', port }], endpoints: [pod('me'), pod('other')] }
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, ...facts }
}
