import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { object } from '../../../schema/kit.ts'
import { validate } from '../../../schema/validate.ts'
import { closedPort } from '../../../testing/scene.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { chainOf } from '../chain.ts'
import { promptGuard } from '../schema.ts'
import { failureShapes } from '../testing/failure-shapes.ts'
import { guardContext, useGuardTarget, useTarget } from '../testing/guard-target.ts'
import { createHttpGuard } from './guard.ts'

const response = { message: 'not here', statusCode: 422 }
const flagged = { body: '{"input": text}', reject: 'response.body.flagged' }

const schema = promptGuard(object({}))
function parsed(http: object) {
  return validate(schema, { request: [{ http: { backendRef: { name: 'scan' }, ...http } }] })
}

function configOf(http: object) {
  const result = parsed(http)
  assert.ok(result.ok, JSON.stringify(result))
  return result.value.request![0]!.http!
}

async function useGuard(t: TestContext, http: object, answer: Parameters<typeof useGuardTarget>[1]) {
  const { target, seen } = await useGuardTarget(t, answer)
  return { guard: createHttpGuard(configOf(http), target, response), seen }
}

describe('http guard: what is sent', () => {
  it('is what the expressions say, and no header of the client besides', async (t) => {
    const http = {
      path: '/v1/scan?mode=full',
      method: 'PUT',
      headers: [
        { name: 'X-Tenant', expression: 'request.headers["x-tenant"]' },
        { name: 'x-none', expression: 'null' },
        { name: 'accept', expression: '"application/vnd.scan+json"' },
      ],
      body: '{"phase": phase, "all": text, "items": texts.transformList(i, t, {"role": roles[i], "content": t})}',
      reject: 'false',
    }
    const { guard, seen } = await useGuard(t, http, () => ({}))
    const headers: [string, string][] = [
      ['x-tenant', 'acme é'],
      ['authorization', 'Bearer client-key'],
    ]
    const context = guardContext(['system', 'user', 'user'], { request: headers })
    assert.deepEqual(await guard.check(['be kind', ' ', 'hello'], 'request', context), { kind: 'pass' })
    const [{ method, url, headers: sent, body }] = seen as [(typeof seen)[number]]
    assert.equal(`${method} ${url}`, 'PUT /v1/scan?mode=full')
    assert.deepEqual(Object.keys(sent).sort(), ['accept', 'content-length', 'content-type', 'host', 'x-tenant'])
    assert.equal(sent.accept, 'application/vnd.scan+json')
    assert.equal(Buffer.from(String(sent['x-tenant']), 'latin1').toString(), 'acme é')
    assert.deepEqual(JSON.parse(body), {
      phase: 'request',
      all: 'be kind\nhello',
      items: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'hello' },
      ],
    })
  })

  it('is one call for each text with maxTexts: 1, and every verdict counts', async (t) => {
    const http = { ...flagged, maxTexts: 1 }
    const { guard, seen } = await useGuard(t, http, ({ body }) => ({ flagged: body.includes('bad') }))
    const texts = Array.from({ length: 20 }, (_, at) => `text ${at}`)
    const context = guardContext(texts.map(() => 'user'))
    assert.equal((await guard.check(texts, 'request', context)).kind, 'pass')
    assert.deepEqual(seen.map(({ body }) => body).sort(), texts.map((input) => JSON.stringify({ input })).sort())
    assert.equal((await guard.check(texts.with(19, 'bad'), 'request', context)).kind, 'reject')
  })

  it('is nothing that could begin another header', async (t) => {
    const http = { ...flagged, headers: [{ name: 'x-text', expression: 'text' }] }
    const { guard, seen } = await useGuard(t, http, () => ({ flagged: false }))
    assert.deepEqual(await guard.check(['a\r\nx-admin: 1'], 'request', guardContext(['user'])), {
      kind: 'failed',
      reason: 'the value of header x-text is not valid',
    })
    assert.equal(seen.length, 0)
  })

  it('is nothing when the body has an error, whose message could be a part of the text', async (t) => {
    const { guard, seen } = await useGuard(t, { ...flagged, body: 'fail(text)' }, () => ({ flagged: false }))
    const verdict = await guard.check(['secret'], 'request', guardContext(['user']))
    assert.equal(verdict.kind, 'failed')
    assert.doesNotMatch(JSON.stringify(verdict), /secret/)
    assert.equal(seen.length, 0)
  })
})

describe('http guard: what the verdict is', () => {
  it('rejects, with names for the trace that are no texts', async (t) => {
    const http = { ...flagged, found: 'response.body.kinds' }
    const { guard } = await useGuard(t, http, () => ({ flagged: true, kinds: ['toxic', 'what you said: ...', 7] }))
    assert.deepEqual(await guard.check(['x'], 'request', guardContext(['user'])), {
      ...{ kind: 'reject', status: 422, body: 'not here', reason: 'the guard rejected it' },
      found: ['toxic'],
    })
  })

  it('masks by offsets of the unit of the service', async (t) => {
    const text = '😀é Ann'
    for (const [offsets, start] of [
      ['Characters', 3],
      ['Utf16', 4],
      ['Bytes', 7],
    ] as const) {
      const http = { body: 'texts', mask: 'response.body.spans', offsets }
      const { guard } = await useGuard(t, http, () => ({ spans: [{ index: 0, start, end: start + 3 }] }))
      const verdict = await guard.check([text], 'response', guardContext(['assistant']))
      assert.deepEqual(verdict, { kind: 'mask', texts: ['😀é <masked>'], found: [] }, offsets)
    }
  })

  it('masks with the texts that the service sends back, of long texts too', async (t) => {
    const http = { body: '{"texts": texts}', mask: 'response.body.texts', maxCharacters: 512 }
    const { guard, seen } = await useGuard(t, http, ({ body }) => ({
      texts: (JSON.parse(body) as { texts: string[] }).texts.map((text) => text.replaceAll('Ann', '<P>')),
    }))
    const long = 'all is well with Ann now. '.repeat(100)
    const verdict = await guard.check(['Ann', long], 'request', guardContext(['user', 'user']))
    assert.deepEqual(verdict, { kind: 'mask', texts: ['<P>', long.replaceAll('Ann', '<P>')], found: [] })
    assert.ok(seen.length > 5)
  })

  it('a rejection counts even if another call fails, and lets a guard that fails open reject', async (t) => {
    const http = { ...flagged, maxTexts: 1, failureMode: 'FailOpen' }
    const { guard } = await useGuard(t, http, ({ body }) => (body.includes('bad') ? { flagged: true } : {}))
    assert.equal((await guard.check(['odd', 'bad'], 'request', guardContext(['user', 'user']))).kind, 'reject')
  })
})

describe('http guard: several calls', () => {
  it('masks what one call found even if another fails, where the guard fails open', async (t) => {
    const http = { body: '{"text": text}', mask: 'response.body.spans', maxTexts: 1, failureMode: 'FailOpen' }
    const { guard } = await useGuard(t, http, ({ body }) =>
      body.includes('Ann') ? { spans: [{ start: 0, end: 3 }] } : {},
    )
    const run = chainOf([guard], 'request').run(['odd', 'Ann'], guardContext(['user', 'user']))
    const { verdict, notes } = await run
    assert.deepEqual(verdict, { kind: 'mask', texts: ['odd', '<masked>'], found: [] })
    assert.equal(notes[0]?.verdict, 'failedOpen')
  })

  it('starts no more calls once the client has left', async (t) => {
    const rx = { isOver: false } as RequestContext
    const { guard, seen } = await useGuard(t, { ...flagged, maxTexts: 1 }, () => {
      rx.isOver = true
      return { flagged: false }
    })
    const texts = Array.from({ length: 30 }, (_, at) => `text ${at}`)
    await guard.check(texts, 'request', { ...guardContext(texts.map(() => 'user')), rx })
    assert.ok(seen.length <= 8, String(seen.length))
  })
})

describe('http guard: how a service fails', () => {
  for (const [name, { answer, reason }] of Object.entries(failureShapes)) {
    it(`${name} denies the text, or lets it pass where the config says so`, async (t) => {
      const { target } = await useGuardTarget(t, (...asked) => {
        answer(...asked)
        return undefined
      })
      for (const failureMode of ['FailClosed', 'FailOpen'] as const) {
        const timeout = name === 'silence' ? '50ms' : '10s'
        const guard = createHttpGuard(configOf({ ...flagged, failureMode, timeout }), target, response)
        const { verdict, notes } = await chainOf([guard], 'request').run(['my secret'], guardContext(['user']))
        const isOpen = failureMode === 'FailOpen'
        assert.equal(
          verdict.kind === 'reject' ? `${verdict.status} ${verdict.body}` : verdict.kind,
          isOpen ? 'pass' : '503 prompt guard failed',
        )
        assert.equal(notes[0]?.verdict, isOpen ? 'failedOpen' : 'failed')
        assert.match(notes[0]?.reason ?? '', reason)
        assert.doesNotMatch(JSON.stringify(notes), /secret|vendor|oops/)
      }
    })
  }

  it('a refused connection denies the text', async (t) => {
    const guard = createHttpGuard(configOf(flagged), useTarget(t, await closedPort()), response)
    assert.equal((await guard.check(['a'], 'request', guardContext(['user']))).kind, 'failed')
  })
})

describe('http guard: the schema', () => {
  const wrong: [object, string][] = [
    [{ body: 'text' }, 'missing_key'],
    [{ reject: 'true' }, 'missing_key'],
    [{ ...flagged, reject: 'text' }, 'bad_expression'],
    [{ ...flagged, body: 'request.path' }, 'bad_expression'],
    [{ ...flagged, body: 'response.body' }, 'bad_expression'],
    [{ ...flagged, body: 'config' }, 'bad_expression'],
    [{ ...flagged, path: 'v1' }, 'bad_format'],
    [{ ...flagged, path: '/a b' }, 'bad_format'],
    [{ ...flagged, headers: [{ name: 'content-type', expression: '"x"' }] }, 'not_allowed'],
    [{ ...flagged, maxCharacters: 100 }, 'out_of_range'],
    [{ ...flagged, timeout: '0s' }, 'out_of_range'],
    [{ ...flagged, offsets: 'words' }, 'not_allowed'],
  ]
  for (const [http, code] of wrong) {
    it(`rejects ${JSON.stringify(http)}`, () => {
      const result = parsed(http)
      assert.deepEqual(result.ok ? [] : result.problems.map((problem) => problem.code), [code])
    })
  }
})
