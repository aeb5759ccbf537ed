import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { explain } from '../explain/explain.ts'
import type { Backend, Ir } from '../ir/resources.ts'
import { RECORDER_DEFAULTS } from '../policies/frontend/recorder/settings.ts'
import { request } from '../testing/client.ts'
import { TestGateway } from '../testing/gateway.ts'
import type { OriginHandler } from '../testing/origin.ts'
import { closedPort, useOrigin } from '../testing/scene.ts'
import { usePicker } from '../testing/services/picker.ts'

/** Inference pools of a cluster behind providers of an `ai` backend. */

const LISTENER = 'bind/0/web'
const AI = 'backend/models/llms'
const POOL = 'backend/pool/models/llama'
const PICKER = 'backend/service/models/picker/9002:picker'

const model: OriginHandler = (_seen, response) => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: 'c1', object: 'chat.completion', created: 1, model: 'llama', choices, usage }))
}

/** A pool, and another provider that is called when the pool fails. */
function config(pool: Backend['target'], other: { host: string; port: number }): Ir {
  const key = `${LISTENER}/models/chat/0`
  const openai = { model: 'llama' }
  const own = { openai, host: 'llama.models.inference.cluster.local', port: 443 }
  const host = 'picker.models.svc.cluster.local'
  return {
    binds: [{ key: 'bind/0', port: 0, address: '' }],
    listeners: [{ key: LISTENER, bind: 'bind/0', name: 'web', hostname: '', protocol: 'HTTP', tls: null }],
    routes: [
      {
        key,
        listener: LISTENER,
        name: 'models/chat',
        rule: '',
        labels: {},
        hostnames: [],
        matches: [{ path: { kind: 'pathPrefix', value: '/' }, method: null, headers: [], query: [] }],
        backends: [{ key: `${key}/backend/0`, backend: AI, weight: 1 }],
      },
    ],
    backends: [
      {
        key: AI,
        name: 'models/llms',
        target: {
          kind: 'ai',
          groups: [
            [{ key: `${AI}/section/own`, name: 'own', config: own, pool: POOL }],
            [{ key: `${AI}/section/other`, name: 'other', config: { openai, ...other } }],
          ],
        },
      },
      { key: POOL, name: 'models/llama', target: pool },
      { key: PICKER, name: 'models/picker:9002', target: { kind: 'service', host, port: 9002, version: 'HTTP2' } },
    ],
    policies: [
      {
        key: 'policy/models/records',
        target: { kind: 'gateway' },
        frontend: { recorder: { ...RECORDER_DEFAULTS, sampling: 'true' } },
        traffic: null,
        phase: 'PostRouting',
        backend: null,
      },
      {
        key: 'policy/models/pool',
        target: { kind: 'backend', key: POOL },
        frontend: null,
        traffic: null,
        phase: 'PostRouting',
        backend: { transformation: { request: { set: [{ name: 'x-pool', value: '"llama"' }], add: [], remove: [] } } },
      },
    ],
  }
}

async function setUp(t: TestContext, target?: Backend['target']) {
  const [member, other] = [await useOrigin(t, model), await useOrigin(t, model)]
  const picked: string[] = [member.host]
  const picker = await usePicker(t, () => picked.join())
  const gateway = new TestGateway({})
  t.after(() => gateway.close())
  const failureMode = 'FailClosed' as const
  const pool: Backend['target'] = {
    kind: 'inferencePool',
    endpoints: null,
    picker: { backend: PICKER, failureMode, timeoutMs: 5_000 },
    version: 'HTTP1',
  }
  await gateway.use(config(target ?? pool, { host: '127.0.0.1', port: other.port }))
  const reach = (members: string[]): void =>
    gateway.setEndpoints({
      put: [
        [POOL, members],
        [PICKER, [picker.host]],
      ],
      drop: [],
    })
  reach([member.host])
  const body = JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] })
  const headers = { 'content-type': 'application/json' }
  const ask = () => request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', headers, body })
  const explained = () => {
    const ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }
    const record = gateway.recorded()[0] ?? assert.fail('no record')
    return explain(record, { isKnown: true, isEarlier: false, live: 1, ir, locate: () => null })
  }
  return { member, other, picked, picker, gateway, reach, ask, explained }
}

test('a provider calls the members of its pool in plain text, with the policies of the pool and its tokens counted', async (t) => {
  const { member, other, picker, gateway, ask } = await setUp(t)
  assert.equal((await ask()).status, 200)
  assert.deepEqual([member.seen.length, other.seen.length, picker.asked.length], [1, 0, 1])
  assert.equal(member.seen[0]?.headers['x-pool'], 'llama')
  assert.equal(member.seen[0]?.headers.host, 'llama.models.inference.cluster.local')
  await gateway.finished(1)
  const record = gateway.recorded()[0]
  assert.deepEqual([record?.llm?.inputTokens, record?.llm?.outputTokens], [7, 3])
  assert.partialDeepStrictEqual(record?.variables?.inferencePool, {
    picked: [member.host],
    outcome: 'picked',
    served: member.host,
  })
})

test('the record and its explanation have the endpoint that failed and the one that served', async (t) => {
  const gone = `127.0.0.1:${await closedPort()}`
  const { member, picked, gateway, reach, ask, explained } = await setUp(t)
  reach([gone, member.host])
  picked.unshift(gone)
  assert.equal((await ask()).status, 200)
  await gateway.finished(1)
  const record = gateway.recorded()[0]
  assert.partialDeepStrictEqual(record?.variables?.inferencePool, { picked: [gone, member.host], served: member.host })
  assert.deepEqual(
    record?.calls?.map(({ target, error }) => [target, error?.split(':')[0]]),
    [
      [gone, 'connect_failed'],
      [member.host, undefined],
    ],
  )
  assert.match(JSON.stringify(explained()), new RegExp(`${gone}[^]*connect_failed`))
})

test('the next provider is called when the pool has no members, or cannot be used', async (t) => {
  const empty = await setUp(t)
  empty.reach([])
  const invalid = await setUp(t, { kind: 'invalid', reason: 'InferencePool models/llama not found' })
  for (const { member, other, gateway, ask } of [empty, invalid]) {
    assert.equal((await ask()).status, 200)
    assert.deepEqual([member.seen.length, other.seen.length], [0, 1])
    await gateway.finished(1)
    assert.deepEqual(gateway.bugs, [])
  }
})
