import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { TestGateway } from '../../testing/gateway.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { useOrigin } from '../../testing/scene.ts'
import { printProblems } from '../print-problems.ts'
import { loadManifests } from './manifests.ts'

/** GwModels from files, with providers on real sockets. */

const respond: OriginHandler = (seen, response) => {
  const { model } = JSON.parse(seen.body) as { model: string }
  response.setHeader('content-type', 'application/json')
  if (model === 'full') return response.writeHead(429).end('{"error":{"message":"slow down"}}')
  const choices = [{ index: 0, message: { role: 'assistant', content: `from ${model}` }, finish_reason: 'stop' }]
  response.end(JSON.stringify({ id: 'c', model, choices, usage: { prompt_tokens: 3, completion_tokens: 2 } }))
}

const gatewayOf = (...listeners: object[]) => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'edge' },
  spec: { gatewayClassName: 'portico', listeners },
})

const modelOf = (name: string, spec: object) => ({
  apiVersion: 'portico.dev/v1alpha1',
  kind: 'GwModel',
  metadata: { name },
  spec: { parentRefs: [{ name: 'edge' }], ...spec },
})

const SERVED = gatewayOf({
  ...{ name: 'models', port: 80, protocol: 'HTTP' },
  allowedRoutes: { kinds: [{ group: 'portico.dev', kind: 'GwModel' }, { kind: 'HTTPRoute' }] },
})

async function load(t: TestContext, resources: readonly object[]) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'all.yaml'), resources.map((each) => JSON.stringify(each)).join('\n---\n'))
  const loaded = await loadManifests(folder, { gateway: null, env: {} })
  if (!loaded.ok) return assert.fail(printProblems(loaded.problems))
  const ir = { ...loaded.ir, binds: loaded.ir.binds.map((bind) => ({ ...bind, port: 0 })) }
  return { ir, warnings: printProblems(loaded.warnings) }
}

async function useModels(t: TestContext, resources: readonly object[]) {
  const loaded = await load(t, resources)
  const gateway = new TestGateway({})
  t.after(() => gateway.close())
  await gateway.use(loaded.ir)
  const ask = (model: string, host = 'a', path = '/v1/chat/completions') =>
    request(gateway.port(), {
      method: 'POST',
      path,
      headers: { host, 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
    })
  return { gateway, ask, warnings: loaded.warnings }
}

test('GwModels of a listener route by model, each with its own credential, and fall back', async (t) => {
  const origin = await useOrigin(t, respond)
  const at = { host: '127.0.0.1', port: origin.port }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { Authorization: 'sk-1' } }
  const { gateway, ask } = await useModels(t, [
    SERVED,
    secret,
    modelOf('smart', {
      provider: { openai: { model: 'gpt-5.5' }, ...at },
      policies: { auth: { secretRef: { name: 'keys' } } },
    }),
    modelOf('full', { visibility: 'Internal', provider: { openai: {}, ...at } }),
    modelOf('any', { match: { model: 'vendor/*' }, provider: { openai: {}, ...at } }),
    modelOf('house', {
      targets: [{ modelRef: { name: 'full' } }, { modelRef: { name: 'any' }, model: 'vendor/large' }],
    }),
  ])
  assert.match((await ask('smart')).body, /from gpt-5\.5/)
  assert.equal(origin.seen.at(-1)?.headers['authorization'], 'Bearer sk-1')
  assert.match((await ask('vendor/small')).body, /from small/)
  assert.equal(origin.seen.at(-1)?.headers['authorization'], undefined)
  assert.match((await ask('house')).body, /from large/)
  const unknown = await ask('smrt')
  assert.equal(unknown.status, 404)
  assert.match(unknown.body, /smart/)
  assert.equal((await ask('full')).status, 404)
  const list = await request(gateway.port(), { path: '/v1/models' })
  const { data } = JSON.parse(list.body) as { data: { id: string }[] }
  assert.deepEqual(data.map(({ id }) => id).toSorted(), ['house', 'smart'])
  assert.deepEqual(gateway.bugs, [])
})

test('a GwModel that cannot be used fails alone, and no pattern serves its requests', async (t) => {
  const origin = await useOrigin(t, respond)
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const { gateway, ask, warnings } = await useModels(t, [
    SERVED,
    modelOf('all', { match: { model: '*' }, provider }),
    modelOf('keyless', { provider, policies: { auth: { secretRef: { name: 'absent' } } } }),
    modelOf('house', {
      targets: [
        { modelRef: { name: 'keyless' } },
        { modelRef: { name: 'gone' } },
        { modelRef: { name: 'all' }, model: 'b' },
      ],
    }),
    modelOf('cycle', { targets: [{ modelRef: { name: 'cycle' } }] }),
  ])
  for (const broken of ['keyless', 'cycle']) {
    const { status, body } = await ask(broken)
    assert.ok(status >= 500, `${broken}: ${status}`)
    assert.doesNotMatch(body, /absent|127\.0\.0\.1/)
  }
  assert.equal(origin.seen.length, 0)
  assert.match((await ask('house')).body, /from b/)
  assert.match((await ask('other')).body, /from other/)
  assert.match(warnings, /Secret default\/absent not found/)
  assert.match(warnings, /GwModel default\/gone not found/)
  assert.match(warnings, /found a cycle: cycle → cycle/)
  assert.deepEqual(gateway.bugs, [])
})

test('a rule of an HTTPRoute serves its GwModels, and a deleted GwModel is gone while the others stay', async (t) => {
  const origin = await useOrigin(t, respond)
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const parentRefs = [{ kind: 'HTTPRoute', name: 'llm' }]
  const reference = (name: string) => ({ group: 'portico.dev', kind: 'GwModel', name })
  const route = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'llm' },
    spec: {
      parentRefs: [{ name: 'edge' }],
      hostnames: ['llm.example.com'],
      rules: [{ matches: [{ path: { value: '/v1' } }], backendRefs: [reference('one'), reference('two')] }],
    },
  }
  const one = modelOf('one', { parentRefs, provider })
  const others = [SERVED, route, modelOf('two', { parentRefs, provider })]
  const { gateway, ask } = await useModels(t, [...others, one])
  assert.match((await ask('one', 'llm.example.com')).body, /from one/)
  assert.equal((await ask('one', 'other.example.com')).status, 404)
  const { ir, warnings } = await load(t, others)
  await gateway.use(ir)
  assert.equal((await ask('one', 'llm.example.com')).status, 404)
  assert.match((await ask('two', 'llm.example.com')).body, /from two/)
  assert.match(warnings, /GwModel default\/one not found/)
  assert.deepEqual(gateway.bugs, [])
})
