import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { HOPS_HEADER } from '@portico/http'
import { MAX_HOPS, MAX_PASSES } from '../../../../http/src/fields/hops.ts'
import { exchangeRaw, request } from '../../testing/client.ts'
import type { TestGateway } from '../../testing/gateway.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin, useTcpServer } from '../../testing/scene.ts'
import { openTls } from '../../testing/tls-client.ts'

/** A gateway whose config names its own address, given once the address is known. */
async function useLoop(t: TestContext, routes: (self: string, port: number) => object[], more: object = {}) {
  const gateway = await useGateway(t, httpConfig([{ backends: [] }]))
  const port = gateway.port()
  await gateway.reload(JSON.stringify(httpConfig(routes(`127.0.0.1:${port}`, port), more)))
  return gateway
}

/** Requests that the gateway has seen once no more come. */
async function countOf(gateway: TestGateway): Promise<number> {
  let before = -1
  while (before !== gateway.records.length) {
    before = gateway.records.length
    await pause(50)
  }
  return before
}

function loops(gateway: TestGateway): number {
  return gateway.records.filter(({ reason }) => reason === 'LoopDetected').length
}

const chat = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }] })
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})
const json = { host: 'localhost', 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const FORWARD = { dynamicForwardProxy: { allowCidrs: ['127.0.0.0/8'], ports: [] } }

describe('a request that leads back to the gateway', () => {
  it('ends with 508 and is said in log and record, through a dynamic forward proxy', async (t) => {
    const gateway = await useGateway(t, httpConfig([{ backends: [FORWARD] }]))
    const answer = await request(gateway.port(), { headers: { host: `127.0.0.1:${gateway.port()}` } })
    assert.equal(answer.status, 508)
    assert.equal(answer.body, 'loop detected')
    assert.equal(await countOf(gateway), MAX_PASSES + 2)
    assert.equal(loops(gateway), 1)
    const found = gateway.recorded().find(({ reason }) => reason?.code === 'loop_detected')
    assert.equal(found?.reason?.kind, 'LoopDetected')
    assert.equal(found?.outcome, 'failed')
  })

  const kinds: [string, (self: string, port: number) => object[], object?][] = [
    ['static backend', (self) => [routeTo({ host: self })]],
    ['static backend by HTTP/2', (self) => [routeTo({ host: self }, { backend: { http: { version: 'HTTP2' } } })]],
    [
      'model provider',
      (_, port) => [{ backends: [{ ai: { provider: { openai: {}, host: '127.0.0.1', port } } }] }],
      { method: 'POST', path: '/v1/chat/completions', headers: json, body: chat },
    ],
    [
      'MCP server',
      (_, port) => [{ backends: [{ mcp: { targets: [{ name: 'own', static: { host: '127.0.0.1', port } }] } }] }],
      { method: 'POST', path: '/mcp', headers: json, body: initialize },
    ],
    ['external authorizer', (self) => [routeTo({ host: self }, { extAuth: { backendRef: { host: self }, http: {} } })]],
    ['authorizer by gRPC', (self) => [routeTo({ host: self }, { extAuth: { backendRef: { host: self }, grpc: {} } })]],
  ]
  for (const [name, routes, options] of kinds) {
    it(`ends through a ${name}`, async (t) => {
      const gateway = await useLoop(t, routes)
      const answer = await request(gateway.port(), options)
      assert.ok(answer.status >= 400 || /"error"/.test(answer.body), answer.text)
      const count = await countOf(gateway)
      assert.ok(count >= MAX_PASSES + 2 && count < 200, `${count} requests`)
      assert.ok(loops(gateway) > 0)
    })
  }

  it('ends through a mirror, while the request itself is answered', async (t) => {
    const origin = await useOrigin(t)
    const gateway = await useLoop(t, (self) => [routeTo(origin, { requestMirror: { backend: self } })])
    assert.equal((await request(gateway.port())).status, 200)
    assert.equal(await countOf(gateway), MAX_PASSES + 2)
    assert.equal(origin.seen.length, MAX_PASSES + 1)
  })

  it('ends through the proxy of a tunnel', async (t) => {
    const gateway = await useGateway(t, httpConfig([{ backends: [] }]))
    const backends = [{ name: 'egress', static: { host: '127.0.0.1', port: gateway.port() } }]
    const policies = { upgrades: { protocols: ['connect'] } }
    const through = { host: '127.0.0.1:9', policies: { tunnel: { backendRef: { name: 'egress' } } } }
    await gateway.reload(JSON.stringify(httpConfig([{ policies, backends: [through] }], { backends })))
    const answer = await request(gateway.port())
    assert.equal(answer.status, 503)
    assert.equal(await countOf(gateway), MAX_PASSES + 2)
    assert.equal(loops(gateway), 1)
  })

  it('ends between two gateways', async (t) => {
    const second = await useGateway(t, httpConfig([{ backends: [] }]))
    const first = await useGateway(t, httpConfig([routeTo({ host: `127.0.0.1:${second.port()}` })]))
    await second.reload(JSON.stringify(httpConfig([routeTo({ host: `127.0.0.1:${first.port()}` })])))
    assert.equal((await request(first.port())).status, 508)
    assert.equal(await countOf(first), MAX_PASSES + 2)
  })

  it('ends after many gateways, whoever they are', async (t) => {
    const origin = await useOrigin(t)
    const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
    const hops = (count: number) => ({
      headers: { [HOPS_HEADER]: Array.from({ length: count }, () => 'a1').join(', ') },
    })
    assert.equal((await request(gateway.port(), hops(MAX_HOPS))).status, 200)
    assert.equal((await request(gateway.port(), hops(MAX_HOPS + 1))).status, 508)
    assert.equal((await request(gateway.port(), { headers: { [HOPS_HEADER]: 'a'.repeat(2000) } })).status, 508)
  })
})

describe('a chain of gateways', () => {
  it('is passed, also where a gateway is its own backend a few times', async (t) => {
    const origin = await useOrigin(t)
    const last = await useGateway(t, httpConfig([routeTo(origin)]))
    const steps = (self: string): object[] => [
      routeTo({ host: `127.0.0.1:${last.port()}` }, {}, pathPrefix('/4')),
      ...[3, 2, 1, 0].map((step) => {
        const urlRewrite = { path: { prefix: `/${step + 1}` } }
        return routeTo({ host: self }, { urlRewrite }, pathPrefix(`/${step}`))
      }),
    ]
    const first = await useLoop(t, steps)
    assert.equal((await request(first.port(), { path: '/0' })).status, 200)
    assert.equal(first.records.length, 5)
  })

  it('notes each gateway once, whatever clients and policies do to the header', async (t) => {
    const origin = await useOrigin(t)
    const remove = { request: { remove: [HOPS_HEADER] } }
    const last = await useGateway(t, httpConfig([routeTo(origin, { headerModifiers: remove })]))
    const first = await useGateway(t, httpConfig([routeTo({ host: `127.0.0.1:${last.port()}` })]))
    await request(first.port(), { headers: { 'X-Portico-Hops': 'zz', connection: `close, ${HOPS_HEADER}` } })
    assert.match(origin.hops[0] ?? '', /^zz, [0-9a-f]{16}, [0-9a-f]{16}$/)
  })
})

describe('a connection that leads back to the gateway', () => {
  const listen = (listener: object) => JSON.stringify({ binds: [{ port: 0, listeners: [listener] }] })

  it('is closed on a TCP listener', async (t) => {
    const gateway = await useGateway(t, { binds: [{ port: 0, listeners: [{ protocol: 'TCP', routes: [] }] }] })
    const backends = [{ host: `127.0.0.1:${gateway.port()}` }]
    await gateway.reload(listen({ protocol: 'TCP', routes: [{ backends }] }))
    assert.equal(await exchangeRaw(gateway.port(), '', () => false), '')
    await gateway.finished(1)
    assert.deepEqual([await countOf(gateway), loops(gateway)], [1, 1])
  })

  it('is closed on a TLS listener, whichever address the bytes come back to', async (t) => {
    // The address of a load balancer in front of the gateway.
    let port = 0
    const balancer = await useTcpServer(t, (socket) => {
      const onward = connect(port, '127.0.0.1')
      onward.on('error', () => {}).on('close', () => socket.destroy())
      socket.on('close', () => onward.destroy())
      socket.pipe(onward).pipe(socket)
    })
    const routes = [{ backends: [{ host: balancer.host }] }]
    const gateway = await useGateway(t, { binds: [{ port: 0, listeners: [{ protocol: 'TLS', routes }] }] })
    port = gateway.port()
    await assert.rejects(openTls(port, { servername: 'a.test' }))
    await gateway.finished(MAX_PASSES + 2)
    assert.equal(await countOf(gateway), MAX_PASSES + 2)
    assert.equal(loops(gateway), 1)
  })
})
