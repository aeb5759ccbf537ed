import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OriginHandler } from '../testing/origin.ts'
import { cacheOf, END, piece, sendChat, setUp, SSE, streamOf, textOf } from './testing/scene.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const ERROR = '{"error":{"message":"too much to do","type":"server_error"}}'

/** Ways in which a provider fails; all of them must leave nothing in the cache. */
const faults: readonly [name: string, stream: boolean, handler: OriginHandler][] = [
  ['an error status', false, (_seen, response) => response.writeHead(500, JSON_TYPE).end(ERROR)],
  ['a rejected request', false, (_seen, response) => response.writeHead(400, JSON_TYPE).end(ERROR)],
  ['a reset', false, (_seen, response) => response.destroy()],
  ['an error with status 200', false, (_seen, response) => response.writeHead(200, JSON_TYPE).end(ERROR)],
  ['garbage', false, (_seen, response) => response.writeHead(200, JSON_TYPE).end('<html>')],
  [
    'half a body',
    false,
    (_seen, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': '1000' }).write('{"id":"c","choices":[')
      setImmediate(() => response.destroy())
    },
  ],
  ['a status that is not 200', false, (_seen, response) => response.writeHead(204).end()],
  ['an error as a stream', true, (_seen, response) => response.writeHead(200, SSE).end(`data: ${ERROR}\n\n`)],
  [
    'an error inside a stream',
    true,
    (_seen, response) => response.writeHead(200, SSE).end(`${piece('one')}data: ${ERROR}\n\n`),
  ],
  ['a stream without an end', true, (_seen, response) => response.writeHead(200, SSE).end(piece('one'))],
  [
    'a stream that is cut',
    true,
    (_seen, response) => {
      response.writeHead(200, SSE).write(piece('one'))
      setImmediate(() => response.destroy())
    },
  ],
  ['a stream of garbage', true, (_seen, response) => response.writeHead(200, SSE).end('data: {\n\n')],
]

describe('nothing is stored', () => {
  for (const [name, stream, fail] of faults) {
    test(`after ${name}`, async (t) => {
      let isFailing = true
      const { chat, seen, gateway } = await setUp(t, {
        handler(request, response, message) {
          if (isFailing) fail(request, response, message)
          else if (stream) response.writeHead(200, SSE).end(streamOf('well again'))
          else sendChat(response, 'well again')
        },
      })
      const failed = await chat({ stream })
      isFailing = false
      const answer = await chat({ stream })
      assert.deepEqual([textOf(answer), cacheOf(answer)], ['well again', 'miss'])
      assert.equal(cacheOf(await chat({ stream })), 'hit; age=0')
      assert.equal(seen.length, 2)
      // The client of the failed request got what it gets without a cache.
      assert.notEqual(cacheOf(failed), 'hit; age=0')
      await gateway.finished(3)
      assert.equal(gateway.records[0]?.llm?.cache?.status, 'miss')
    })
  }

  test('when an answer is larger than an eighth of the cache; it passes whole', async (t) => {
    const text = 'x'.repeat(200_000)
    const { chat, seen } = await setUp(t, {
      cache: { maxBytes: '1Mi' },
      handler: (request, response) => {
        if (request.body.includes('"stream":true')) response.writeHead(200, SSE).end(piece(text) + END)
        else sendChat(response, text)
      },
    })
    for (const stream of [false, false, true, true]) {
      const answer = await chat({ stream })
      assert.deepEqual([textOf(answer).length, cacheOf(answer)], [text.length, 'miss'])
    }
    assert.equal(seen.length, 4)
  })
})

test('a hit says nothing about the health of the provider', async (t) => {
  const { chat, gateway, seen } = await setUp(t, {
    backend: { health: { eviction: { consecutiveFailures: 1, duration: '1h' } } },
  })
  assert.equal(textOf(await chat()), 'answer 1')
  for (let i = 0; i < 3; i += 1) assert.equal(cacheOf(await chat()), 'hit; age=0')
  assert.equal(seen.length, 1)
  assert.deepEqual(gateway.evictions, [])
})
