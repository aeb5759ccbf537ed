import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { request } from '../../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

test('the backend is not called, and log, record and metric say that it was a rehearsal', async (t) => {
  const origin = await useOrigin(t)
  const abort = { status: 503, headers: [{ name: 'retry-after', value: '5' }] }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { abort })]))
  const { status, body, headers } = await request(gateway.port())
  assert.deepEqual([status, body, headers['retry-after'], origin.seen.length], [503, 'aborted by a rehearsal', '5', 0])
  await gateway.finished(1)
  const [log] = gateway.records
  assert.deepEqual([log?.reason, log?.rehearsal], ['Abort', ['abort 503']])
  const [record] = gateway.recorded()
  assert.deepEqual([record?.outcome, record?.rehearsal, record?.reason?.policy], ['failed', ['abort 503'], 'abort'])
  assert.match(gateway.metrics(), /portico_rehearsals_total\{policy="[^"]+",kind="abort"\} 1/)
})

test('a body is sent as it is', async (t) => {
  const abort = { status: 429, body: '{"wait":5}', headers: [{ name: 'content-type', value: 'application/json' }] }
  const gateway = await useGateway(t, httpConfig([{ policies: { abort } }]))
  const { status, body, headers } = await request(gateway.port())
  assert.deepEqual([status, body, headers['content-type']], [429, '{"wait":5}', 'application/json'])
})

test('a body has only the content type that the config names, and the default text is plain', async (t) => {
  const typeOf = async (abort: object): Promise<string | undefined> => {
    const gateway = await useGateway(t, httpConfig([{ policies: { abort } }]))
    return (await request(gateway.port())).headers['content-type']
  }
  assert.equal(await typeOf({ status: 429, body: '{"wait":5}' }), undefined)
  assert.match((await typeOf({ status: 429 })) ?? '', /^text\/plain/)
})

test('gRPC clients get a gRPC status', async (t) => {
  const aborts = [{ status: 503 }, { status: 503, grpcStatus: 4, body: 'not for gRPC' }]
  for (const [index, expected] of ['14', '4'].entries()) {
    const gateway = await useGateway(t, httpConfig([{ policies: { abort: aborts[index] } }]))
    const { status, body, headers } = await request(gateway.port(), { headers: { 'content-type': 'application/grpc' } })
    assert.deepEqual([status, body, headers['grpc-status']], [200, '', expected])
  }
})

test('clients of a model API get an error in their format', async (t) => {
  const route = { policies: { abort: { status: 429 } }, backends: [{ ai: { provider: { mock: {} } } }] }
  const gateway = await useGateway(t, httpConfig([route]))
  const asked = { method: 'POST', path: '/v1/chat/completions', body: '{"model":"m","messages":[]}' }
  const { status, body } = await request(gateway.port(), asked)
  assert.equal(status, 429)
  const told = JSON.parse(body) as { error: { message: string } }
  assert.equal(told.error.message, 'aborted by a rehearsal')
})

test('the percentage and a condition choose the requests', async (t) => {
  const origin = await useOrigin(t)
  let number = 0.099
  const conditional = [{ condition: 'request.path == "/fail"', policy: { status: 500, percentage: 10 } }]
  const config = httpConfig([routeTo(origin, { abort: { conditional } })])
  const gateway = await useGateway(t, config, { random: () => number })
  const statusOf = async (path: string): Promise<number> => (await request(gateway.port(), { path })).status
  assert.deepEqual([await statusOf('/fail'), await statusOf('/other')], [500, 200])
  number = 0.1
  assert.equal(await statusOf('/fail'), 200)
})

test('a request that another policy denies is not aborted', async (t) => {
  const policies = { abort: { status: 503 }, authorization: { rules: [{ deny: 'true' }] } }
  const gateway = await useGateway(t, httpConfig([{ policies }]))
  assert.equal((await request(gateway.port())).status, 403)
})

test('a status that is no error does not load', () => {
  for (const abort of [{ status: 200 }, { body: 'no status' }, { status: 500, grpcStatus: 0 }]) {
    const config = httpConfig([{ policies: { abort } }])
    assert.equal(
      loadConfig(JSON.stringify(config), { file: 'test', dir: '.', env: {} }).ok,
      false,
      JSON.stringify(abort),
    )
  }
})
