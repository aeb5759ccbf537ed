import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import { until } from '../testing/scene.ts'
import { cacheOf, CHAT, END, LeavingClient, piece, sendChat, setUp, SSE, textOf } from './testing/scene.ts'

/** A provider whose responses the test writes. */
async function setUpOpen(t: TestContext, policies: object = {}) {
  const responses: ServerResponse[] = []
  const scene = await setUp(t, { policies, handler: (_seen, response) => void responses.push(response) })
  const port = () => scene.gateway.port()
  const asked = (count: number) => until(() => responses.length === count)
  return { ...scene, responses, port, asked }
}

const stream = { ...CHAT, stream: true }
const ERROR = /"error":\{"message":/

describe('equal requests at the same time', () => {
  test('ask the provider once, as a whole', async (t) => {
    const { chat, responses, asked, gateway, seen } = await setUpOpen(t)
    const answers = Promise.all(Array.from({ length: 8 }, () => chat()))
    await asked(1)
    // A request of another text shows that the others had their time.
    const other = chat({ seed: 2 })
    await asked(2)
    for (const [at, response] of responses.entries()) sendChat(response, `answer ${at}`)
    const all = await answers
    assert.deepEqual(new Set(all.map(textOf)), new Set(['answer 0']))
    assert.deepEqual(
      all.map(cacheOf).filter((outcome) => outcome !== 'hit; age=0'),
      ['miss'],
    )
    await other
    assert.equal(seen.length, 2)
    await gateway.finished(9)
    const costs = gateway.records.map(({ llm }) => llm?.costUsd ?? NaN).toSorted((a, b) => a - b)
    assert.deepEqual(costs, [0, 0, 0, 0, 0, 0, 0, 0.1, 0.1])
  })

  test('follow one stream from its beginning, while it arrives', async (t) => {
    const { port, responses, asked, chat, gateway } = await setUpOpen(t)
    const first = new LeavingClient(port(), stream)
    const second = new LeavingClient(port(), stream)
    await asked(1)
    const [response] = responses
    assert.ok(response)
    response.writeHead(200, SSE).write(piece('one'))
    await until(() => [first, second].every(({ received }) => received.includes('one')))
    // A third one begins in the middle, and gets all of it.
    const third = new LeavingClient(port(), stream)
    await until(() => third.received.includes('one'))
    response.write(piece(' two'))
    await until(() => [first, second, third].every(({ received }) => received.includes('two')))
    response.end(END)
    await until(() => [first, second, third].every(({ isEnded }) => isEnded))
    const bodyOf = ({ received }: LeavingClient): string => textOf({ body: received })
    assert.deepEqual([first, second, third].map(bodyOf), ['one two', 'one two', 'one two'])
    assert.equal(cacheOf(await chat({ stream: true })), 'hit; age=0')
    await gateway.finished(4)
    assert.equal(responses.length, 1)
  })

  test('go on without the one that asked, and the first of the others pays', async (t) => {
    const { port, responses, asked, chat, gateway } = await setUpOpen(t)
    const leader = new LeavingClient(port(), stream)
    await asked(1)
    const followers = [new LeavingClient(port(), stream), new LeavingClient(port(), stream)]
    responses[0]?.writeHead(200, SSE).write(piece('one'))
    await until(() => [leader, ...followers].every(({ received }) => received.includes('one')))
    leader.leave()
    await gateway.finished(1)
    responses[0]?.end(piece(' two') + END)
    await until(() => followers.every(({ isEnded }) => isEnded))
    assert.deepEqual(
      followers.map(({ received }) => textOf({ body: received })),
      ['one two', 'one two'],
    )
    await gateway.finished(3)
    const [gone, ...others] = gateway.records.map(({ llm }) => llm)
    assert.equal(gone?.isEstimated, true)
    const outcomes = new Map(others.map((llm) => [llm?.cache?.status, llm?.costUsd]))
    assert.deepEqual(
      outcomes,
      new Map([
        ['hit', 0],
        ['miss', 0.1],
      ]),
    )
    // A follower found the answer complete, so it is stored.
    assert.equal(cacheOf(await chat({ stream: true })), 'hit; age=0')
    assert.equal(responses.length, 1)
  })

  test('go on without the one that asked, before the provider has answered', async (t) => {
    const { port, responses, asked, chat, gateway } = await setUpOpen(t)
    const leader = new LeavingClient(port(), CHAT)
    await asked(1)
    const follower = chat()
    await until(() => gateway.connectionCount() === 2)
    // The gateway refuses this one, after it has read the one before.
    await chat({ model: '' })
    leader.leave()
    await gateway.finished(2)
    const [response] = responses
    assert.ok(response)
    sendChat(response, 'late')
    assert.equal(textOf(await follower), 'late')
    assert.equal(cacheOf(await chat()), 'hit; age=0')
    assert.equal(responses.length, 1)
  })

  test('are cancelled at the provider when all clients have left', async (t) => {
    const { port, responses, asked, gateway, chat } = await setUpOpen(t)
    const clients = [new LeavingClient(port(), stream), new LeavingClient(port(), stream)]
    await asked(1)
    const [response] = responses
    assert.ok(response)
    let isClosed = false
    response.on('close', () => (isClosed = true))
    response.writeHead(200, SSE).write(piece('one'))
    await until(() => clients.every(({ received }) => received.includes('one')))
    for (const client of clients) client.leave()
    await until(() => isClosed)
    await gateway.finished(2)
    const again = chat({ stream: true })
    await asked(2)
    responses[1]?.writeHead(200, SSE).end(piece('new') + END)
    assert.deepEqual([textOf(await again), cacheOf(await again)], ['new', 'miss'])
  })

  test('do not look whole when the provider dies, and nothing is stored', async (t) => {
    const { port, responses, asked, gateway, chat } = await setUpOpen(t)
    const clients = [0, 1, 2].map(() => new LeavingClient(port(), stream))
    await asked(1)
    responses[0]?.writeHead(200, SSE).write(piece('one'))
    await until(() => clients.every(({ received }) => received.includes('one')))
    responses[0]?.destroy()
    await until(() => clients.every(({ isEnded }) => isEnded))
    for (const { received } of clients) {
      assert.match(received, ERROR)
      assert.doesNotMatch(received, /\[DONE\]/)
    }
    await gateway.finished(3)
    assert.deepEqual(new Set(gateway.recorded().map(({ reason }) => reason?.code)), new Set(['connection_lost']))
    const again = chat({ stream: true })
    await asked(2)
    responses[1]?.writeHead(200, SSE).end(piece('new') + END)
    assert.equal(textOf(await again), 'new')
  })

  test('each ask when the provider refuses the first one', async (t) => {
    const { chat, responses, asked } = await setUpOpen(t)
    const answers = [chat(), chat(), chat()]
    await asked(1)
    const mark = chat({ seed: 2 })
    await asked(2)
    for (const response of responses.slice(1)) sendChat(response, 'mark')
    await mark
    responses[0]?.writeHead(429, { 'content-type': 'application/json' }).end('{"error":{"message":"slow down"}}')
    await asked(4)
    for (const response of responses.slice(2)) sendChat(response, 'later')
    const all = await Promise.all(answers)
    assert.deepEqual(
      all.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 200, 429],
    )
    assert.deepEqual(all.map(cacheOf), ['miss', 'miss', 'miss'])
  })

  test('each have their own budget refusal', async (t) => {
    const budget = { limits: [{ name: 'team', usd: 0.06, per: 'Day' }] }
    const { chat, responses } = await setUpOpen(t, { budget })
    const answers = await Promise.all([chat({ max_tokens: 9_000 }), chat({ max_tokens: 9_000 })])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [429, 429],
    )
    assert.equal(responses.length, 0)
  })

  test('do not wait for one that reads slowly', async (t) => {
    const { port, responses, asked, chat } = await setUpOpen(t)
    const slow = new LeavingClient(port(), stream)
    await asked(1)
    slow.pause()
    const fast = new LeavingClient(port(), stream)
    const text = 'x'.repeat(50_000)
    responses[0]?.writeHead(200, SSE)
    for (let i = 0; i < 60; i += 1) responses[0]?.write(piece(`${i} ${text}`))
    responses[0]?.end(END)
    await until(() => fast.isEnded)
    assert.ok(fast.received.length > 3_000_000)
    slow.resume()
    await until(() => slow.isEnded)
    assert.equal(textOf({ body: slow.received }), textOf({ body: fast.received }))
    assert.equal(cacheOf(await chat({ stream: true })), 'hit; age=0')
  })
})
