import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../../sources/file.ts'
import { printProblems } from '../../sources/print-problems.ts'
import { request } from '../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../testing/scene.ts'

async function setUp(t: TestContext, policies: object, more: object = {}) {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([{ ...routeTo(origin, policies), name: 'r' }], more))
  return { origin, gateway, ask: (options: Parameters<typeof request>[1] = {}) => request(gateway.port(), options) }
}

const onlyGet = { rules: [{ deny: 'request.path == "/secret"' }, { require: 'request.method == "GET"' }] }

test('a shadow of authorization denies nothing, and says what it would have done', async (t) => {
  const { origin, gateway, ask } = await setUp(t, { authorization: { mode: 'Shadow', ...onlyGet } })
  assert.equal((await ask()).status, 200)
  const events = gateway.trace()
  const answer = await ask({ method: 'POST', body: 'x' })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['x-portico-decision'], undefined)
  assert.equal(origin.seen.length, 2)
  await gateway.finished(2)
  assert.match(gateway.lines[0] ?? '', / shadow=authorization:allowed /)
  assert.match(gateway.lines[1] ?? '', / shadow=authorization:denied /)
  const record = gateway.store.since(null).records.at(-1)?.decode()
  assert.deepEqual(
    record?.shadows?.map(({ policy, outcome, status, code, text }) => [policy, outcome, status, code, text]),
    [['authorization', 'denied', 403, 'authorization_denied', 'would have denied, rule 2']],
  )
  assert.equal(record?.outcome, 'passed')
  assert.equal(record?.error, null)
  const step = (await events).find(({ message }) => message['kind'] === 'shadow.authorization')
  const result = JSON.stringify(step?.message['result'])
  assert.match(result, /^\{"type":"apply","details":\{"shadow":"would have denied, rule 2"/)
  const rules = (await events).find(({ message }) => message.type === 'authorizationResult')
  assert.equal(rules?.message['shadow'], 'authorization')
  const metrics = gateway.metrics()
  assert.match(metrics, /^portico_shadow_total\{policy="authorization",route="r",outcome="denied"\} 1$/m)
  assert.match(metrics, /^portico_shadow_total\{policy="authorization",route="r",outcome="allowed"\} 1$/m)
})

test('a new rule set is tried under `shadow` while the old one holds', async (t) => {
  const { gateway, ask } = await setUp(t, {
    authorization: { rules: ['request.method != "DELETE"'] },
    shadow: { authorization: { rules: ['request.method == "GET"'] } },
  })
  const statuses = []
  for (const method of ['GET', 'POST', 'DELETE']) statuses.push((await ask({ method })).status)
  assert.deepEqual(statuses, [200, 200, 403])
  await gateway.finished(3)
  assert.deepEqual(
    gateway.records.map(({ shadows }) => shadows?.outcomes[0]?.text),
    ['would have allowed', 'would have denied, no allow rule matched', 'would have denied, no allow rule matched'],
  )
  assert.deepEqual(
    gateway.records.map(({ reason }) => reason),
    ['Upstream', 'Upstream', 'Authorization'],
  )
})

test('shadows of all attachments are joined, apart from the rules that hold', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, {
    policies: [
      {
        name: 'wide',
        targetRefs: [{ kind: 'Gateway', name: 'default' }],
        traffic: { authorization: { mode: 'shadow', rules: [{ deny: 'request.path == "/a"' }] } },
      },
    ],
    ...httpConfig([routeTo(origin, { shadow: { authorization: { rules: [{ deny: 'request.path == "/b"' }] } } })]),
  })
  for (const path of ['/a', '/b', '/c']) assert.equal((await request(gateway.port(), { path })).status, 200)
  await gateway.finished(3)
  assert.deepEqual(
    gateway.records.map(({ shadows }) => shadows?.outcomes[0]?.text),
    ['would have denied, rule 1', 'would have denied, rule 2', 'would have allowed'],
  )
})

test('a shadow before routing is counted for the route that the request found', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, {
    ...httpConfig([{ ...routeTo(origin), name: 'found', matches: [{ path: { pathPrefix: '/in' } }] }], {
      listener: { policies: { phase: 'PreRouting', authorization: { mode: 'Shadow', rules: ['false'] } } },
    }),
  })
  assert.equal((await request(gateway.port(), { path: '/in' })).status, 200)
  assert.equal((await request(gateway.port(), { path: '/out' })).status, 404)
  await gateway.finished(2)
  assert.match(gateway.metrics(), /^portico_shadow_total\{policy="authorization",route="found",outcome="denied"\} 1$/m)
  assert.match(
    gateway.metrics(),
    /^portico_shadow_total\{policy="authorization",route="unknown",outcome="denied"\} 1$/m,
  )
})

test('a shadow that reads the body neither holds the request nor changes its bytes', async (t) => {
  const { origin, gateway, ask } = await setUp(t, {
    authorization: { mode: 'Shadow', rules: ['json(request.body).ok == true'] },
  })
  assert.equal((await ask({ method: 'POST', body: '{"ok":true}' })).status, 200)
  assert.equal((await ask({ method: 'POST', body: '{"ok":false}' })).status, 200)
  assert.equal((await ask({ method: 'POST', body: '' })).status, 200)
  await gateway.finished(3)
  assert.deepEqual(
    origin.seen.map(({ body }) => body),
    ['{"ok":true}', '{"ok":false}', ''],
  )
  assert.deepEqual(
    gateway.records.map(({ shadows }) => shadows?.outcomes[0]?.outcome),
    ['allowed', 'denied', 'denied'],
  )
})

test('a shadow whose request body never arrives has an unknown outcome', async (t) => {
  const policies = {
    shadow: { authorization: { rules: ['request.body.size() > 0'] } },
    authorization: { rules: [{ deny: 'true' }] },
  }
  const { gateway, ask } = await setUp(t, policies)
  assert.equal((await ask({ method: 'POST', body: 'x' })).status, 403)
  await gateway.finished(1)
  assert.equal(gateway.records[0]?.shadows?.outcomes[0]?.outcome, 'unknown')
})

test('a word that `mode` does not have is refused with a suggestion', () => {
  const config = httpConfig([{ policies: { authorization: { mode: 'Shadwo', rules: ['true'] } } }])
  const loaded = loadConfig(JSON.stringify(config), { file: 'a.yaml', dir: '.', env: {} })
  assert.match(loaded.ok ? '' : printProblems(loaded.problems), /mode.*Shadwo.*did you mean `Shadow`/s)
})

test('a policy that decides nothing has no shadow', () => {
  const config = httpConfig([{ policies: { shadow: { timeouts: { request: '1s' } } } }])
  const loaded = loadConfig(JSON.stringify(config), { file: 'a.yaml', dir: '.', env: {} })
  assert.match(loaded.ok ? '' : printProblems(loaded.problems), /unknown key `timeouts`/)
})
