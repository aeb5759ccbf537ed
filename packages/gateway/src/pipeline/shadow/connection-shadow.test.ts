import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchangeRaw, request } from '../../testing/client.ts'
import { KeepAliveClient } from '../../testing/keep-alive-client.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../testing/scene.ts'
import '../../testing/all-features.ts'

const nobody = { rules: [{ deny: 'source.address == "127.0.0.1"' }] }

for (const frontend of [
  { networkAuthorization: { ...nobody, mode: 'Shadow' } },
  { networkAuthorization: { rules: ['source.port > 0'] }, shadow: { networkAuthorization: nobody } },
]) {
  test(`a shadow of network authorization admits connections: ${Object.keys(frontend).join(', ')}`, async (t) => {
    const origin = await useOrigin(t)
    const gateway = await useGateway(t, httpConfig([{ ...routeTo(origin), name: 'r' }], { frontend }))
    const client = new KeepAliveClient(gateway.port())
    t.after(() => client.close())
    for (let i = 0; i < 2; i++) assert.equal((await client.get('/')).status, 200)
    await gateway.finished(2)
    assert.deepEqual(
      gateway.records.map(({ shadows }) => shadows?.outcomes.map(({ policy, text }) => `${policy}: ${text}`)),
      Array.from({ length: 2 }, () => ['networkAuthorization: would have denied, rule 1']),
    )
    assert.match(gateway.lines[0] ?? '', / shadow=networkAuthorization:denied /)
    // The metric counts one connection, although the connection had several requests.
    assert.match(
      gateway.metrics(),
      /^portico_shadow_total\{policy="networkAuthorization",route="unknown",outcome="denied"\} 1$/m,
    )
    assert.deepEqual(gateway.refusals, [])
  })
}

test('rules of a shadow do not join the rules that hold', async (t) => {
  const origin = await useOrigin(t)
  const frontend = { networkAuthorization: nobody, shadow: { networkAuthorization: { rules: ['true'] } } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend }))
  assert.equal((await request(gateway.port())).text, '')
  assert.deepEqual(gateway.refusals, ['network_authorization'])
  assert.match(gateway.metrics(), /portico_shadow_total\{policy="networkAuthorization",.*outcome="allowed"\} 1$/m)
})

test('shadows of a TCP route and of its port are in the log line of a connection', async (t) => {
  const backend = await useTcpServer(t, (socket) => socket.end('welcome'))
  const policies = { shadow: { authorization: { rules: ['source.port == 1'] } } }
  const listener = { protocol: 'TCP', routes: [{ name: 'r', policies, backends: [{ host: backend.host }] }] }
  const frontend = { shadow: { networkAuthorization: nobody } }
  const gateway = await useGateway(t, { frontend, binds: [{ port: 0, listeners: [listener] }] })
  assert.equal(await exchangeRaw(gateway.port(), 'x', () => false), 'welcome')
  await until(() => gateway.lines.length === 1)
  assert.match(gateway.lines[0] ?? '', / shadow=networkAuthorization:denied,authorization:denied /)
  assert.match(gateway.metrics(), /^portico_shadow_total\{policy="authorization",route="r",outcome="denied"\} 1$/m)
  const record = gateway.store.since(null).records.at(-1)?.decode()
  assert.deepEqual([record?.outcome, record?.shadows?.length], ['passed', 2])
})
