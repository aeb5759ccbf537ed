import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderBlock, type Sink, sourceOf } from '@portico/http'
import { clientFormats, type CollectedResponse, collectResponse } from '@portico/chat'
import { parseJsonObject } from '@portico/http/json'
import type { BackendIdentity } from '../../pipeline/compiled/compiled.ts'
import { responseContext } from '../../../../chat/src/testing/chat-request.ts'
import { mockBackend, MOCK_HEADER } from './call.ts'
import type { MockConfig } from '../../llm/providers/mock/schema.ts'

const identity: BackendIdentity = {
  key: 'k',
  name: 'mock',
  kind: 'ai',
  request: null,
  sign: null,
  response: null,
  requestBody: 'none',
  unhealthyCondition: null,
}

const plain: MockConfig = {
  model: 'mock',
  latency: 0,
  failures: { rateLimited: 0, unavailable: 0, brokenStreams: 0 },
}

/** A clock that advances only when told. */
function handClock() {
  let now = 0
  let waiting: { at: number; run: () => void }[] = []
  return {
    later(ms: number, run: () => void) {
      const entry = { at: now + ms, run }
      waiting.push(entry)
      return () => (waiting = waiting.filter((other) => other !== entry))
    },
    pass(ms: number) {
      const end = now + ms
      for (;;) {
        const next = waiting.toSorted((a, b) => a.at - b.at)[0]
        if (next === undefined || next.at > end) break
        waiting = waiting.filter((entry) => entry !== next)
        now = next.at
        next.run()
      }
      now = end
    },
    get isWaiting() {
      return waiting.length > 0
    },
  }
}

function setUp(config: Partial<MockConfig> = {}) {
  const time = handClock()
  let ids = 0
  const backend = mockBackend(identity, {
    config: { ...plain, ...config },
    formats: clientFormats,
    random: () => 0.5,
    clock: () => 1_700_000_000_000,
    newId: (prefix) => `${prefix}${++ids}`,
    later: (ms, run) => time.later(ms, run),
    maxBytes: 100_000,
  })
  function send(path: string, body: unknown, takes: () => boolean = () => true) {
    const seen = { status: 0, headers: new HeaderBlock(), text: '', end: 'open' as 'open' | 'whole' | 'cut' }
    const sink: Sink = {
      source: null,
      write: (chunk) => (seen.text += chunk.toString()),
      flush: takes,
      end: () => (seen.end = 'whole'),
      abort: () => (seen.end = 'cut'),
    }
    const request = {
      method: body === undefined ? 'GET' : 'POST',
      target: path,
      authority: 'mock',
      headers: new HeaderBlock(),
      body: sourceOf(Buffer.from(body === undefined ? '' : JSON.stringify(body))),
      upgrade: '',
      teTrailers: false,
    }
    const context = { hops: '', clientVersion: 'HTTP/1.1', clientScheme: 'http' as const, connectingTo() {} }
    const call = backend.send(request, context, {
      informed() {},
      upgraded() {},
      failed: (error) => assert.fail(error),
      responded({ status, headers, body: answer }) {
        Object.assign(seen, { status, headers })
        answer.pipe(sink)
      },
    })
    return { seen, sink, call }
  }
  return { time, send }
}

const ask = {
  completions: { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'hi' }] } },
  messages: { path: '/v1/messages', body: { max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] } },
  responses: { path: '/v1/responses', body: { input: 'hi' } },
}

for (const name of ['completions', 'messages', 'responses'] as const) {
  test(`${name}: streamed and whole say the same, and that a mock says it`, () => {
    const { path, body } = ask[name]
    const whole = setUp().send(path, { model: 'any', ...body }).seen
    const decoded = clientFormats[name].decodeResponse(parseJsonObject(whole.text)!, responseContext())
    const { time, send } = setUp()
    const streamed = send(path, { model: 'any', stream: true, ...body }).seen
    time.pass(0)
    assert.deepEqual([whole.status, streamed.status, streamed.end], [200, 200, 'whole'])
    assert.equal(whole.headers.get(MOCK_HEADER), 'true')
    assert.equal(streamed.headers.get(MOCK_HEADER), 'true')
    assert.match(textOf(collectResponse(decoded!)), /^\[mock\] .*You said: hi$/)
    const decoder = clientFormats[name].createStreamDecoder(responseContext())
    const events = [...decoder.push(Buffer.from(streamed.text)), ...decoder.end()]
    assert.equal(textOf(collectResponse(events)), textOf(collectResponse(decoded!)))
    assert.deepEqual(collectResponse(events).finish, collectResponse(decoded!).finish)
  })
}

function textOf(folded: CollectedResponse): string {
  return folded.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

test('a whole answer takes as long as its tokens would', () => {
  const { time, send } = setUp({ latency: 100, tokensPerSecond: 10, text: 'one two' })
  const { seen } = send(ask.completions.path, { model: 'any', ...ask.completions.body })
  time.pass(399)
  assert.equal(seen.status, 0)
  time.pass(1)
  assert.equal(seen.status, 200)
})

test('a stream comes token by token', () => {
  const { time, send } = setUp({ latency: 100, tokensPerSecond: 10, text: 'one two' })
  const { seen } = send(ask.completions.path, { model: 'any', stream: true, ...ask.completions.body })
  time.pass(199)
  assert.ok(!seen.text.includes('[mock]'))
  time.pass(1)
  assert.ok(seen.text.includes('[mock]') && !seen.text.includes('one'))
  time.pass(200)
  assert.equal(seen.end, 'whole')
})

test('a reader that cannot take more is waited for', () => {
  let takes = false
  const { time, send } = setUp({ tokensPerSecond: 10, text: 'one two' })
  const body = { model: 'any', stream: true, ...ask.completions.body }
  const { seen, sink } = send(ask.completions.path, body, () => takes)
  time.pass(1000)
  assert.equal(seen.end, 'open')
  takes = true
  sink.source?.resume()
  time.pass(1000)
  assert.equal(seen.end, 'whole')
})

test('a client that left gets no response', () => {
  const { time, send } = setUp({ latency: 100 })
  const { seen, call } = send(ask.completions.path, { model: 'any', ...ask.completions.body })
  call.cancel(new Error('left'))
  time.pass(1000)
  assert.equal(seen.status, 0)
  assert.equal(time.isWaiting, false)
})

test("a rehearsed rate limit is sent in the client's format", () => {
  const failures = { ...plain.failures, rateLimited: 100, retryAfter: 1500 }
  const { seen } = setUp({ failures }).send(ask.messages.path, { model: 'any', ...ask.messages.body })
  assert.equal(seen.status, 429)
  assert.equal(seen.headers.get('retry-after'), '2')
  assert.equal((JSON.parse(seen.text) as { error: { type: string } }).error.type, 'rate_limit_error')
})

test('a rehearsed break cuts the stream', () => {
  const failures = { ...plain.failures, brokenStreams: 100 }
  const { time, send } = setUp({ failures })
  const { seen } = send(ask.responses.path, { model: 'any', stream: true, ...ask.responses.body })
  time.pass(0)
  assert.equal(seen.end, 'cut')
  assert.ok(seen.text.includes('response.created'))
})

test('it lists itself, and answers nothing but chats', () => {
  const list = setUp({ model: 'mock-1' }).send('/v1/models', undefined).seen
  assert.deepEqual((JSON.parse(list.text) as { data: { id: string }[] }).data[0]?.id, 'mock-1')
  assert.equal(setUp().send('/v1/embeddings', { model: 'any', input: 'x' }).seen.status, 404)
  assert.equal(setUp().send('/v1/messages', 'no object').seen.status, 400)
})
