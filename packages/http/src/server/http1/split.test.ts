import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Observation } from '../../http1/fuzz/observation.ts'
import { observeOurs } from '../../http1/fuzz/observe-request.ts'
import { observeOurClient } from '../../http1/fuzz/observe-response.ts'

const H = 'Host: a\r\n'

/** Messages that cover every part of the grammar, and some invalid messages. */
const requests = [
  `GET / HTTP/1.1\r\n${H}\r\n`,
  `\r\n\r\nGET /a?b HTTP/1.1\r\n${H}X-A:  b \t\r\nx:\r\n\r\n`,
  `POST / HTTP/1.1\r\n${H}Content-Length: 5\r\n\r\nabcdeGET /next HTTP/1.1\r\n${H}\r\n`,
  `POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n3;a="\\"b"\r\nabc\r\n0B\r\n01234567890\r\n0;x\r\nT: 1\r\nU: 2\r\n\r\nGET /next HTTP/1.1\r\n${H}\r\n`,
  `POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n1\r\n\r\r\n1\r\n\n\r\n0\r\n\r\n\r\nGET /next HTTP/1.1\r\n${H}Connection: close\r\n\r\nGET /never HTTP/1.1\r\n${H}\r\n`,
  `GET / HTTP/1.0\r\n${H}Connection: keep-alive\r\n\r\nGET http://a/x HTTP/1.0\r\n${H}\r\n`,
  `CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nraw`,
  `GET / HTTP/1.1\r\n${H}X : y\r\n\r\n`,
  `GET / HTTP/1.1\r\n${H}X: y\rz\r\n\r\n`,
  `GET / HTTP/1.1\r\n${H}X: y\n\r\n`,
  `GET / HTTP/1.1\r\n\r\n`,
  `POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\nabcd\r\n0\r\n\r\n`,
  `POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n0\r\nT: 1\n\r\n\r\n`,
]

const responses = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde',
  'HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: 1\r\n\r\n',
  'HTTP/1.1 200 OK\r\nX: y\r\n\r\nuntil the end',
  'HTTP/1.1 204 No Content\r\nX: y\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc',
  'HTTP/1.1 200 OK\r\nX : y\r\n\r\n',
]

for (const text of requests) {
  test(`request ${JSON.stringify(text.slice(0, 60))} means the same however it is cut`, async () => {
    await sameHoweverCut(text, (pieces) => observeOurs(pieces))
  })
}

for (const text of responses) {
  test(`response ${JSON.stringify(text.slice(0, 60))} means the same however it is cut`, async () => {
    await sameHoweverCut(text, (pieces) => observeOurClient({ method: 'GET', pieces, ends: true }))
  })
}

test('a response with a bad chunk is refused however it is cut, and nothing of it is handed on if it came whole', async () => {
  const text = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd'
  const bytes = Buffer.from(text, 'latin1')
  for (let cut = 1; cut <= bytes.length; cut++) {
    const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)].filter((piece) => piece.length > 0)
    const { refused, messages } = await seen(
      (given) => observeOurClient({ method: 'GET', pieces: given, ends: true }),
      pieces,
    )
    assert.equal(refused, 'malformed response body (chunk longer than its size)', `cut at ${cut}`)
    assert.ok(messages.every((message) => !message.complete))
    if (cut === bytes.length) assert.deepEqual(messages, [])
  }
})

type Observe = (pieces: Buffer[]) => { observation: Observation; stop: () => void }

async function sameHoweverCut(text: string, observe: Observe): Promise<void> {
  const bytes = Buffer.from(text, 'latin1')
  const whole = await seen(observe, [bytes])
  for (let cut = 1; cut < bytes.length; cut++) {
    assert.deepEqual(await seen(observe, [bytes.subarray(0, cut), bytes.subarray(cut)]), whole, `cut at ${cut}`)
  }
  assert.deepEqual(
    await seen(
      observe,
      Array.from(bytes, (byte) => Buffer.from([byte])),
    ),
    whole,
    'in single bytes',
  )
}

async function seen(observe: Observe, pieces: Buffer[]): Promise<Observation> {
  const { observation, stop } = observe(pieces)
  await new Promise((resolve) => setImmediate(resolve))
  const result = structuredClone(observation)
  stop()
  return result
}
