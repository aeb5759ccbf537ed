import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2'
import type { ServerResponse } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import { until } from '../testing/scene.ts'
import { type CacheScene, CHAT, END, piece, setUp, SSE, textOf } from './testing/scene.ts'

/** A gateway and one HTTP/2 connection to it. */
async function setUpHttp2(t: TestContext, scene: CacheScene = {}) {
  const set = await setUp(t, { ...scene, backend: { http: { version: 'HTTP1' } } })
  const session = connect(`http://127.0.0.1:${set.gateway.port()}`)
  t.after(() => session.destroy())
  return { ...set, session }
}

const HEADERS = { 'content-type': 'application/json', authorization: 'Bearer ann' }

function send(session: ClientHttp2Session, body: object = {}): ClientHttp2Stream {
  const stream = session.request({ ':method': 'POST', ':path': '/v1/chat/completions', ...HEADERS })
  stream.on('error', () => {})
  stream.end(JSON.stringify({ ...CHAT, ...body }))
  return stream
}

async function answerOf(stream: ClientHttp2Stream) {
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }]
  let body = ''
  for await (const chunk of stream.setEncoding('utf8')) body += String(chunk)
  return { status: headers[':status'], cache: headers['x-portico-cache'], body }
}

describe('clients of HTTP/2', () => {
  test('get whole answers and streams from the cache, on one connection', async (t) => {
    const { session, seen } = await setUpHttp2(t)
    for (const stream of [false, true]) {
      const first = await answerOf(send(session, { stream }))
      const hits = await Promise.all([0, 1, 2].map(() => answerOf(send(session, { stream }))))
      for (const hit of hits) assert.deepEqual(hit, { ...first, cache: 'hit; age=0' })
    }
    assert.equal(seen.length, 2)
  })

  test('follow one call, and go on when the stream that asked is reset', async (t) => {
    const responses: ServerResponse[] = []
    const { session, gateway } = await setUpHttp2(t, {
      handler: (_seen, response) => void responses.push(response),
    })
    const leader = send(session, { stream: true })
    await until(() => responses.length === 1)
    const follower = answerOf(send(session, { stream: true }))
    responses[0]?.writeHead(200, SSE).write(piece('one'))
    await once(leader, 'response')
    leader.close()
    await gateway.finished(1)
    responses[0]?.end(piece(' two') + END)
    const { body } = await follower
    assert.equal(textOf({ body }), 'one two')
    assert.equal((await answerOf(send(session, { stream: true }))).cache, 'hit; age=0')
    assert.equal(responses.length, 1)
  })

  test('end a stored stream with a pace by a reset, and other streams go on', async (t) => {
    const cache = { replay: { eventsPerSecond: 1, maxDuration: '1m' } }
    const { session, gateway } = await setUpHttp2(t, { cache })
    await answerOf(send(session, { stream: true }))
    const slow = send(session, { stream: true })
    await once(slow, 'data')
    slow.close()
    await gateway.finished(2)
    assert.equal((await answerOf(send(session))).status, 200)
    assert.equal(gateway.recorded()[1]?.llm?.cache?.status, 'hit')
  })
})
