import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../testing/scene.ts'
import { type Check, NO, ok, option, useAuthorizer } from '../../testing/services/authorizer.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from '../../testing/services/issuer.ts'
import '../../testing/all-features.ts'

type Ask = NonNullable<Parameters<typeof request>[1]>

async function useShadow(t: TestContext, check: Check, extAuth: object = {}, policies: object = {}) {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, check)
  const shadow = { extAuth: { backendRef: { host: authorizer.host }, ...extAuth } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { shadow, ...policies })]))
  const outcomes = (index: number) =>
    (gateway.records[index]?.shadows?.outcomes ?? []).map(({ outcome, status, text }) => [outcome, status, text])
  return { origin, authorizer, gateway, outcomes, ask: (options: Ask = {}) => request(gateway.port(), options) }
}

test('a shadow of an external authorizer changes nothing, and says what the authorizer said', async (t) => {
  const check: Check = ({ attributes }) =>
    attributes?.request?.http?.path === '/no'
      ? NO
      : ok({ headers: [option('x-user', 'ann')], responseHeadersToAdd: [option('x-told', '1')] })
  const { origin, gateway, outcomes, ask } = await useShadow(t, check)
  const answer = await ask({ path: '/yes' })
  assert.deepEqual([answer.status, answer.headers['x-told']], [200, undefined])
  assert.equal((await ask({ path: '/no' })).status, 200)
  assert.deepEqual(
    origin.seen.map(({ headers }) => headers['x-user']),
    [undefined, undefined],
  )
  await gateway.finished(2)
  assert.deepEqual(outcomes(0), [['allowed', null, 'would have allowed']])
  assert.deepEqual(outcomes(1), [['denied', 403, 'would have denied: denied by the authorizer']])
})

test('a request does not wait for the authorizer of a shadow, and its record does', async (t) => {
  const { promise: isAnswered, resolve: answerNow } = Promise.withResolvers<void>()
  const check: Check = () => isAnswered.then(() => NO)
  const { gateway, outcomes, ask } = await useShadow(t, check, { timeout: '10s' })
  assert.equal((await ask()).status, 200)
  assert.equal(gateway.records.length, 0)
  answerNow()
  await gateway.finished(1)
  assert.equal(outcomes(0)[0]?.[0], 'denied')
})

test('the authorizer of a shadow gets the address that a client used, also when that client is gone', async (t) => {
  const key = createSigningKey('k1')
  const { promise: isGone, resolve: clientIsGone } = Promise.withResolvers<void>()
  const issuer = await useOrigin(t, (_seen, response) => {
    void isGone.then(() => response.end(keySetOf(key)))
  })
  const jwks = { remote: { backendRef: { name: 'idp' }, jwksPath: 'keys' } }
  const jwtAuthentication = { providers: [{ issuer: ISSUER, jwks }] }
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, () => ({}))
  const shadow = { jwtAuthentication, extAuth: { backendRef: { host: authorizer.host }, grpc: {} } }
  const backends = [{ name: 'idp', static: { host: '127.0.0.1', port: issuer.port } }]
  const gateway = await useGateway(t, { ...httpConfig([routeTo(origin, { shadow })]), backends })
  const headers = { authorization: `Bearer ${await sign(key)}`, connection: 'close' }
  assert.equal((await request(gateway.port(), { headers })).status, 200)
  await until(() => gateway.connectionCount() === 0)
  clientIsGone()
  await gateway.finished(1)
  const address = authorizer.seen[0]?.attributes?.destination?.address?.address
  assert.ok(address?.$case === 'socketAddress')
  const { address: host, portSpecifier } = address.value
  assert.deepEqual([host, portSpecifier], ['127.0.0.1', { $case: 'portValue', value: gateway.port() }])
})

test('the authorizer of a shadow gets the body, which the backend gets too', async (t) => {
  const check: Check = ({ attributes }) => (attributes?.request?.http?.body === 'good' ? {} : NO)
  const { origin, authorizer, gateway, outcomes, ask } = await useShadow(t, check, { forwardBody: { maxSize: 100 } })
  for (const body of ['good', 'bad']) assert.equal((await ask({ method: 'POST', body })).status, 200)
  await gateway.finished(2)
  assert.deepEqual(
    origin.seen.map(({ body }) => body),
    ['good', 'bad'],
  )
  assert.equal(authorizer.seen.length, 2)
  assert.deepEqual([outcomes(0)[0]?.[0], outcomes(1)[0]?.[0]], ['allowed', 'denied'])
})

test('without the body that the authorizer needs, the outcome is unknown', async (t) => {
  const policies = { authorization: { rules: ['false'] } }
  const { authorizer, gateway, outcomes, ask } = await useShadow(t, () => NO, { forwardBody: { maxSize: 9 } }, policies)
  assert.equal((await ask({ method: 'POST', body: 'x' })).status, 403)
  await gateway.finished(1)
  assert.equal(outcomes(0)[0]?.[0], 'unknown')
  assert.equal(authorizer.seen.length, 0)
})

test('an authorizer that fails is an error of the shadow alone', async (t) => {
  const check: Check = () => Promise.reject(new Error('broken'))
  const { gateway, outcomes, ask } = await useShadow(t, check)
  assert.equal((await ask()).status, 200)
  await gateway.finished(1)
  assert.match(String(outcomes(0)[0]?.[2]), /^would have denied: external authorization failed: /)
})

const PRICES = { models: [{ model: 'm', rates: { input: 0, output: 10 } }], table: 'None' }
const chat = { model: 'm', max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }

/** A model whose responses have a thousand output tokens, which cost a cent. */
const model: OriginHandler = (_seen, response) => {
  const message = { role: 'assistant', content: 'hello' }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  const usage = { prompt_tokens: 1, completion_tokens: 1000, total_tokens: 1001 }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
}

async function useBudgets(t: TestContext, policies: object, answered: () => void = () => {}) {
  const origin = await useOrigin(t, model)
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const route = { name: 'r', policies: { ...policies, backend: { prices: PRICES } }, backends: [{ ai: { provider } }] }
  const gateway = await useGateway(t, httpConfig([route]))
  const statuses: number[] = []
  const outcomes: unknown[] = []
  for (let turn = 1; turn <= 4; turn++) {
    const path = '/v1/chat/completions'
    statuses.push((await request(gateway.port(), { method: 'POST', path, body: JSON.stringify(chat) })).status)
    answered()
    await gateway.finished(turn)
    outcomes.push(gateway.records[turn - 1]?.shadows?.outcomes.find(({ policy }) => policy === 'budget')?.outcome)
  }
  return { statuses, outcomes, gateway }
}

const budget = (usd: number) => ({ budget: { limits: [{ name: 'team', usd, per: 'Month' }] } })

test('a shadow budget is spent by the calls that it would have allowed', async (t) => {
  const { statuses, outcomes, gateway } = await useBudgets(t, { shadow: budget(0.025) })
  assert.deepEqual(statuses, [200, 200, 200, 200])
  // The shadow budget has half a cent left for the third call, so it denies the call and is not charged for it.
  assert.deepEqual(outcomes, ['allowed', 'allowed', 'denied', 'denied'])
  assert.match(String(gateway.records[2]?.shadows?.outcomes[0]?.text), /^would have denied: budget exceeded: team has/)
})

test('a shadow budget and a budget that holds are spent apart', async (t) => {
  const { statuses, outcomes } = await useBudgets(t, { ...budget(0.03), shadow: budget(0.01) })
  assert.deepEqual(statuses, [200, 200, 200, 429])
  assert.deepEqual(outcomes, ['allowed', 'denied', 'denied', 'denied'])
})

test('a shadow budget behind an authorizer that answers after the response counts the call too', async (t) => {
  let answer = (): void => {}
  const authorizer = await useAuthorizer(t, () => new Promise((resolve) => (answer = () => resolve({}))))
  const extAuth = { backendRef: { host: authorizer.host }, timeout: '30s' }
  const { statuses, outcomes } = await useBudgets(t, { shadow: { extAuth, ...budget(0.015) } }, () => answer())
  assert.deepEqual(statuses, [200, 200, 200, 200])
  assert.deepEqual(outcomes, ['allowed', 'allowed', 'denied', 'denied'])
})
