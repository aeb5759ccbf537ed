import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

const TRUSTED = { forwardedHeaders: { trustedProxies: ['127.0.0.0/8'] } }

test('a new id is that of the record, and goes to backend and log', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend: { requestId: {} } }))
  const answer = await request(gateway.port(), { headers: { 'X-Request-Id': 'forged', x_request_id: 'too' } })
  await gateway.finished(1)
  const [record] = gateway.recorded()
  const seen = origin.seen[0]
  assert.equal(record?.requestId, record?.id)
  assert.deepEqual([seen?.headers['x-request-id'], seen?.headers['x_request_id']], [record?.id, undefined])
  assert.match(gateway.lines[0] ?? '', new RegExp(` request\\.id=${record?.id} `))
  assert.equal(answer.headers['x-request-id'], undefined)
})

test('the id of a trusted peer stays, unless it is none', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend: { requestId: {}, ...TRUSTED } }))
  await request(gateway.port(), { headers: { 'x-request-id': 'abc-123' } })
  for (const id of ['has space', 'x'.repeat(129), '"quoted"', '']) {
    await request(gateway.port(), { headers: { 'x-request-id': id } })
  }
  await gateway.finished(5)
  const [first, ...others] = origin.seen.map(({ headers }) => headers['x-request-id'])
  assert.equal(first, 'abc-123')
  for (const id of others) assert.match(String(id), /^[0-9a-z]{15}$/)
  assert.match(gateway.lines[0] ?? '', / request\.id=abc-123 /)
})

test('without the policy a trusted id is in log and record, and nothing else changes', async (t) => {
  const origin = await useOrigin(t)
  const trusting = await useGateway(t, httpConfig([routeTo(origin)], { frontend: TRUSTED }))
  await request(trusting.port(), { headers: { 'x-request-id': 'mine' } })
  await request(trusting.port())
  await trusting.finished(2)
  assert.deepEqual(
    trusting.recorded().map(({ requestId }) => requestId),
    [null, 'mine'],
  )
  const plain = await useGateway(t, httpConfig([routeTo(origin)]))
  await request(plain.port(), { headers: { 'x-request-id': 'mine' } })
  await plain.finished(1)
  assert.equal(plain.recorded()[0]?.requestId, null)
  assert.deepEqual(
    origin.seen.map(({ headers }) => headers['x-request-id']),
    ['mine', undefined, 'mine'],
  )
})

test('answers of the gateway have it, those of backends where that is asked for and they have none', async (t) => {
  const origin = await useOrigin(t, (seen, response) => {
    if (seen.url === '/own') response.setHeader('x-request-id', 'of the backend')
    response.end()
  })
  const frontend = { requestId: { inResponses: true }, ...TRUSTED }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, {}, pathPrefix('/own')), routeTo(origin, {}, pathPrefix('/none'))], { frontend }),
  )
  const idOf = async (path: string): Promise<string | undefined> =>
    (await request(gateway.port(), { path, headers: { 'x-request-id': 'asked' } })).headers['x-request-id']
  assert.deepEqual(
    [await idOf('/own'), await idOf('/none'), await idOf('/elsewhere')],
    ['of the backend', 'asked', 'asked'],
  )
})

test('a refusal names its record to the caller, and an answer that passed does not', async (t) => {
  const origin = await useOrigin(t)
  const rules = { authorization: { rules: [{ deny: 'request.path == "/no"' }] } }
  const direct = { directResponse: { status: 403, body: 'configured' } }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, direct, pathPrefix('/direct')), routeTo(origin, rules)]),
  )
  const [passed, denied, configured] = [
    await request(gateway.port(), { path: '/yes' }),
    await request(gateway.port(), { path: '/no' }),
    await request(gateway.port(), { path: '/direct' }),
  ]
  await gateway.finished(3)
  assert.deepEqual(
    [passed.headers['x-portico-decision'], configured.headers['x-portico-decision']],
    [undefined, undefined],
  )
  const id = denied.headers['x-portico-decision']
  assert.equal(gateway.store.find(id ?? '')?.reason?.code, 'authorization_denied')
  assert.match(gateway.lines[1] ?? '', new RegExp(` decision\\.id=${id} `))
  assert.doesNotMatch(denied.text, /request\.path/)
})

test('without a recorder there is no name of a record, and ids are new all the same', async (t) => {
  const origin = await useOrigin(t)
  const frontend = { requestId: {}, recorder: { enabled: false } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, {}, pathPrefix('/only'))], { frontend }))
  const refused = await request(gateway.port(), { path: '/elsewhere' })
  assert.equal(refused.headers['x-portico-decision'], undefined)
  assert.match(refused.headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/)
})
