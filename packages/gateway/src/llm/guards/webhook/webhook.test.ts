import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { closedPort } from '../../../testing/scene.ts'
import { chainOf } from '../chain.ts'
import type { GuardPhase } from '../guard.ts'
import { guardContext, useGuardTarget, useTarget } from '../testing/guard-target.ts'
import { createWebhookGuard } from './guard.ts'
import type { WebhookGuardConfig } from './schema.ts'

function config(more: Partial<WebhookGuardConfig> = {}): WebhookGuardConfig {
  return { backendRef: { name: 'backend/hook' }, forwardHeaderMatches: [], failureMode: 'FailClosed', ...more }
}

const context = guardContext(['system', 'user'])
const texts = ['be kind', 'hello']

describe('webhook: what is sent', () => {
  it('is the messages of a request, to /request', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ action: {} }))
    const verdict = await createWebhookGuard(config(), target).check(texts, 'request', context)
    assert.deepEqual(verdict, { kind: 'pass' })
    assert.equal(`${seen[0]!.method} ${seen[0]!.url}`, 'POST /request')
    assert.equal(seen[0]!.headers['content-type'], 'application/json')
    assert.equal(seen[0]!.headers.host, 'guard.test')
    assert.deepEqual(JSON.parse(seen[0]!.body), {
      body: {
        messages: [
          { role: 'system', content: 'be kind' },
          { role: 'user', content: 'hello' },
        ],
      },
    })
  })

  it('is the choices of a response, to /response', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ action: { reason: 'fine' } }))
    const verdict = await createWebhookGuard(config(), target).check(['hi'], 'response', guardContext(['assistant']))
    assert.deepEqual(verdict, { kind: 'pass' })
    assert.equal(`${seen[0]!.method} ${seen[0]!.url}`, 'POST /response')
    assert.deepEqual(JSON.parse(seen[0]!.body), {
      body: { choices: [{ message: { role: 'assistant', content: 'hi' } }] },
    })
  })

  const headers = {
    request: [
      ['authorization', 'Bearer client-key'],
      ['cookie', 'session=1'],
      ['x-tenant', 'acme'],
      ['x-tenant', 'other'],
      ['x-user', 'u-17'],
      ['content-type', 'text/odd'],
      ['traceparent', '00-aa-bb-01'],
    ] as [string, string][],
    response: [
      ['x-user', 'of the provider'],
      ['x-tenant', 'acme'],
      ['traceparent', '00-cc-dd-01'],
      ['set-cookie', 'provider=1'],
    ] as [string, string][],
  }
  const forwardHeaderMatches = [
    { name: 'x-tenant', value: { exact: 'acme' } },
    { name: 'x-user', value: { regex: 'u-[0-9]+' } },
    { name: 'x-absent', value: { regex: '.*' } },
    { name: 'content-type', value: { regex: '.*' } },
    { name: 'host', value: { regex: '.*' } },
  ]

  it('has those headers of the request that the config names, and no credentials', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ action: {} }))
    await createWebhookGuard(config({ forwardHeaderMatches }), target).check(
      ['x'],
      'request',
      guardContext(['user'], headers),
    )
    const { 'x-tenant': tenant, 'x-user': user, ...others } = seen[0]!.headers
    assert.deepEqual({ tenant, user }, { tenant: 'acme', user: 'u-17' })
    assert.deepEqual(Object.keys(others).sort(), ['accept', 'content-length', 'content-type', 'host'])
    assert.equal(others['content-type'], 'application/json')
    assert.equal(others.host, 'guard.test')
  })

  it('has credentials only when they are named', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ action: {} }))
    const named = config({ forwardHeaderMatches: [{ name: 'authorization', value: { regex: 'Bearer .*' } }] })
    await createWebhookGuard(named, target).check(['x'], 'request', guardContext(['user'], headers))
    assert.equal(seen[0]!.headers.authorization, 'Bearer client-key')
    assert.equal(seen[0]!.headers.cookie, undefined)
  })

  it('has headers of the provider, and the trace of the request, for a response', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ action: {} }))
    const matches = [...forwardHeaderMatches, { name: 'traceparent', value: { regex: '.*' } }]
    const guard = createWebhookGuard(config({ forwardHeaderMatches: matches }), target)
    await guard.check(['x'], 'response', guardContext(['assistant'], headers))
    const { 'x-tenant': tenant, 'x-user': user, traceparent, authorization } = seen[0]!.headers
    assert.deepEqual([tenant, user, traceparent, authorization], ['acme', undefined, '00-aa-bb-01', undefined])
  })
})

describe('webhook: the headers of a response', () => {
  const forwardHeaderMatches = ['traceparent', 'x-user'].map((name) => ({ name, value: { regex: '.*' } }))
  const given = {
    response: [['x-user', 'ann'] as [string, string], ['traceparent', '00-cc-dd-01'] as [string, string]],
  }

  it('keep the trace of the provider when the request has none', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ action: {} }))
    const guard = createWebhookGuard(config({ forwardHeaderMatches }), target)
    await guard.check(['x'], 'response', guardContext(['assistant'], given))
    const { traceparent, 'x-user': user } = seen[0]!.headers
    assert.deepEqual([traceparent, user], ['00-cc-dd-01', 'ann'])
  })

  it('are only the trace of the request when the provider sent no headers', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ action: {} }))
    const guard = createWebhookGuard(config({ forwardHeaderMatches }), target)
    const request: [string, string][] = [
      ['traceparent', '00-aa-bb-01'],
      ['x-user', 'client'],
    ]
    const context = { ...guardContext(['assistant'], { request }), responseHeaders: null }
    assert.deepEqual(await guard.check(['x'], 'response', context), { kind: 'pass' })
    const { traceparent, 'x-user': user } = seen[0]!.headers
    assert.deepEqual([traceparent, user], ['00-aa-bb-01', undefined])
  })
})

describe('webhook: what it answers', () => {
  const verdicts: { phase: GuardPhase; action: unknown; verdict: object }[] = [
    { phase: 'request', action: {}, verdict: { kind: 'pass' } },
    { phase: 'request', action: { reason: 'ok', body: null }, verdict: { kind: 'pass' } },
    {
      phase: 'request',
      action: { body: { messages: [{ role: 'user', content: 'a' }, { content: '***' }] }, reason: 'pii' },
      verdict: { kind: 'mask', texts: ['a', '***'], found: [] },
    },
    {
      phase: 'response',
      action: { body: { choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] } },
      verdict: { kind: 'mask', texts: ['a', 'b'], found: [] },
    },
    {
      phase: 'response',
      action: { body: 'no way', status_code: 451, reason: 'rude: hello' },
      verdict: { kind: 'reject', status: 451, body: 'no way', found: [], reason: 'the webhook rejected it' },
    },
  ]
  for (const status of [200, 599]) {
    const verdict = { kind: 'reject', status, body: 'no', found: [], reason: 'the webhook rejected it' }
    verdicts.push({ phase: 'request', action: { body: 'no', status_code: status }, verdict })
  }
  for (const { phase, action, verdict } of verdicts) {
    it(`${JSON.stringify(action)} to a ${phase} is ${JSON.stringify(verdict)}`, async (t) => {
      const { target } = await useGuardTarget(t, () => ({ action }))
      assert.deepEqual(await createWebhookGuard(config(), target).check(texts, phase, context), verdict)
    })
  }

  const wrong: unknown[] = [
    undefined,
    'pass',
    [],
    { body: 7 },
    { body: true },
    { body: 'no' },
    { body: 'no', status_code: '403' },
    { body: 'no', status_code: 99 },
    { body: 'no', status_code: 199 },
    { body: 'no', status_code: 600 },
    { body: 'no', status_code: 403.5 },
    { body: {} },
    { body: { messages: [{ content: 'only one' }] } },
    { body: { messages: [{ content: 'a' }, { content: 'b' }, { content: 'c' }] } },
    { body: { messages: [{ content: 'a' }, { role: 'user' }] } },
    { body: { choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] } },
  ]
  for (const action of wrong) {
    it(`refuses on ${JSON.stringify(action)}, which is no answer to a request`, async (t) => {
      const { target } = await useGuardTarget(t, () => ({ action }))
      const chain = chainOf([createWebhookGuard(config(), target)], 'request')
      const { verdict, notes } = await chain.run(texts, context)
      assert.equal(verdict.kind === 'reject' && `${verdict.status} ${verdict.body}`, '503 prompt guard failed')
      assert.equal(notes[0]!.verdict, 'failed')
    })
  }
})

describe('webhook: when the call fails', () => {
  const failures: Record<string, { status: number; body: string; reason: RegExp }> = {
    'a status of 500': { status: 500, body: '{"action":{}}', reason: /status 500/ },
    'a redirect': { status: 302, body: '{"action":{}}', reason: /status 302/ },
    'no JSON': { status: 200, body: 'secret text of the user', reason: /^the answer is not JSON$/ },
    'no body': { status: 204, body: '', reason: /^the answer is not JSON$/ },
    'no object': { status: 200, body: '[]', reason: /^the answer is not JSON$/ },
  }
  for (const [name, { status, body, reason }] of Object.entries(failures)) {
    it(`${name} refuses, or passes where the config says so`, async (t) => {
      const { target } = await useGuardTarget(t, (_seen, response) => {
        response.writeHead(status, { location: '/elsewhere' }).end(body)
        return undefined
      })
      const closed = await chainOf([createWebhookGuard(config(), target)], 'request').run(texts, context)
      assert.equal(
        closed.verdict.kind === 'reject' && `${closed.verdict.status} ${closed.verdict.body}`,
        '503 prompt guard failed',
      )
      assert.match(closed.notes[0]!.reason!, reason)
      const open = createWebhookGuard(config({ failureMode: 'FailOpen' }), target)
      const { verdict, notes } = await chainOf([open], 'request').run(texts, context)
      assert.deepEqual(verdict, { kind: 'pass' })
      assert.equal(notes[0]!.verdict, 'failedOpen')
    })
  }

  it('nobody listens: it refuses', async (t) => {
    const guard = createWebhookGuard(config(), useTarget(t, await closedPort()))
    const { verdict } = await chainOf([guard], 'request').run(texts, context)
    assert.equal(verdict.kind === 'reject' && verdict.status, 503)
  })

  it('no answer in time: it refuses', async (t) => {
    const { target } = await useGuardTarget(t, () => undefined)
    const guard = createWebhookGuard(config(), { ...target, timeoutMs: 50 })
    const { verdict, notes } = await chainOf([guard], 'request').run(texts, context)
    assert.equal(verdict.kind === 'reject' && verdict.status, 503)
    assert.match(notes[0]!.reason!, /in time/)
  })

  it('an answer without end: it refuses', async (t) => {
    const { target } = await useGuardTarget(t, (_seen, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', more)
      more()
      return undefined
    })
    const { notes } = await chainOf([createWebhookGuard(config(), target)], 'request').run(texts, context)
    assert.match(notes[0]!.reason!, /too long/)
  })

  it('masks as long as the texts come back', async (t) => {
    const long = '\u00e4'.repeat(1_000_000)
    const { target } = await useGuardTarget(t, () => ({ action: { body: { messages: [{ content: long }] } } }))
    const verdict = await createWebhookGuard(config(), target).check([long], 'request', guardContext(['user']))
    assert.equal(verdict.kind === 'mask' && verdict.texts[0]!.length, 1_000_000)
  })
})
