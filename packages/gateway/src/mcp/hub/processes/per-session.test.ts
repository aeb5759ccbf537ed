import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '@portico/http/json'
import { eventually } from '../../../testing/process.ts'
import { BadMessage, readMessage } from '../../protocol.ts'
import {
  ask,
  begin,
  failure,
  fakeServer,
  isAlive,
  notification,
  pidOf,
  recorder,
  request,
  result,
  tell,
  useHub,
} from './test-process.ts'

describe('a process for each session', () => {
  test('is started by initialize, from whichever worker, and serves all of them', async (t) => {
    const { workers } = useHub(t, 2)
    const spec = fakeServer()
    const links = workers.map((worker) => worker.process(spec, 'one'))
    await begin(links[0]!)
    assert.equal(await pidOf(links[0]!), await pidOf(links[1]!))
    const other = workers[1]!.process(spec, 'two')
    await begin(other)
    assert.notEqual(await pidOf(other), await pidOf(links[0]!))
  })

  test('is not started by anything else: the session is lost', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer(), 'one')
    assert.equal((await failure(link, request('pid'))).code, 'session_lost')
    assert.equal((await tell(link, notification('notifications/initialized')))?.code, 'session_lost')
  })

  test('is started by requests of the revision without sessions', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer(), 'one')
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    assert.ok((await result(link, request('pid', { _meta: meta }))).pid)
  })

  test('is begun once, though two workers do so at the same time', async (t) => {
    const { workers } = useHub(t, 2)
    const spec = fakeServer()
    const links = workers.map((worker) => worker.process(spec, 'one'))
    const params = { protocolVersion: '2025-11-25', capabilities: {} }
    const begun = await Promise.all(links.map((link) => ask(link, request('initialize', params, 'same'))))
    for (const { messages } of begun) assert.equal(messages.at(-1)!.id, 'same')
    await Promise.all(links.map((link) => tell(link, notification('notifications/initialized'))))
    const later = await result(links[1]!, request('initialize', params, 'later'))
    await tell(links[1]!, notification('notifications/initialized'))
    const { pid, initialized } = await result(links[0]!, request('pid'))
    assert.deepEqual([initialized, (later.serverInfo as JsonObject).version], [1, JSON.stringify(pid)])
  })

  test('gets each message as one line, byte for byte but for line breaks between tokens', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer(), 'one')
    await begin(link)
    const text =
      '{\n  "jsonrpc": "2.0",\r\n  "id": 12345,\n  "method": "echo", "params": {"n": 1.50, "s": "a\\nb é"}\n}'
    const message = readMessage(Buffer.from(text))
    assert.ok(!(message instanceof BadMessage))
    assert.equal((await result(link, message)).line, text.replaceAll(/[\r\n]/g, ' '))
  })

  test('answers each of many requests under way, in any order', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer(), 'one')
    await begin(link)
    const held = Array.from({ length: 50 }, (_, at) => ask(link, request('hold', {}, `hold ${at}`)))
    await result(link, request('release'))
    for (const [at, answer] of (await Promise.all(held)).entries()) {
      assert.deepEqual(answer.messages.at(-1)!.value, { jsonrpc: '2.0', id: `hold ${at}`, result: { released: true } })
    }
  })

  test('refuses a second request of an id that is under way', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer(), 'one')
    await begin(link)
    const first = ask(link, request('hold', {}, 7))
    assert.match((await failure(link, request('echo', {}, 7))).message, /same id/)
    await result(link, request('release'))
    assert.equal((await first).failure, null)
  })

  test('sends progress to whom the token is from, and anything else to the oldest request', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer(), 'one')
    await begin(link)
    const oldest = ask(link, request('hold', { _meta: { progressToken: 'a' } }))
    const progress = await ask(link, request('progress', { steps: 3, _meta: { progressToken: 'b' } }))
    assert.deepEqual(
      progress.messages.map(({ method }) => method),
      [...Array<string>(3).fill('notifications/progress'), ''],
    )
    const ping = { id: 'from the server', method: 'sampling/createMessage', params: {} }
    const note = { method: 'notifications/message', params: { data: 'x' } }
    await result(link, request('say', { messages: [ping, note] }))
    await tell(link, readReply('from the server'))
    await result(link, request('release'))
    const { messages } = await oldest
    assert.deepEqual(
      messages.map(({ method }) => method),
      ['sampling/createMessage', 'notifications/message', 'notifications/heard', ''],
    )
    assert.equal(messages[0]!.id, 'from the server')
  })

  test('keeps what it says on its own account for whoever listens', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer(), 'one')
    await begin(link)
    const note = (text: string): JsonObject => ({ method: 'notifications/message', params: { text } })
    // The answer comes first, so nobody is there when the rest comes.
    const id = 'quick'
    await ask(link, request('say', { messages: [{ id, result: {} }, note('1'), note('2')], silent: true }, id))
    const early = recorder()
    link.listen(early.sink)
    await eventually('told', () => early.messages.length === 2)
    await ask(link, request('say', { messages: [{ id, result: {} }, note('3')], silent: true }, id))
    await eventually('told at once', () => early.messages.length === 3)
    assert.deepEqual(
      early.messages.map(({ value }) => (value.params as JsonObject).text),
      ['1', '2', '3'],
    )
    link.end()
    assert.equal((await early.answered).failure, null)
  })

  test('is answered a ping that no client can hear', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer(), 'one')
    await begin(link)
    const messages: JsonObject[] = [
      { id: 'quick', result: {} },
      { id: 'p', method: 'ping' },
    ]
    await ask(link, request('say', { messages, silent: true }, 'quick'))
    const heard = recorder()
    link.listen(heard.sink)
    await eventually('heard', () => heard.messages.length === 1)
    assert.deepEqual(heard.messages[0]!.value.params, { id: 'p', result: {} })
  })

  test('may print what is no message: it is passed over, and said in the log', async (t) => {
    const hub = useHub(t)
    const link = hub.workers[0]!.process(fakeServer(), 'one')
    await begin(link)
    assert.deepEqual(await result(link, request('print', { text: 'Server ready!' })), {})
    assert.match(hub.logged(), /not a message.*fake/)
  })

  test('ends when it sends a line without an end', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer({ maxMessageBytes: 65_536 }), 'one')
    await begin(link)
    const pid = await pidOf(link)
    assert.match((await failure(link, request('flood'))).message, /line without an end/)
    await eventually('gone', () => !isAlive(pid))
  })

  for (const processes of ['PerSession', 'Shared'] as const) {
    for (const [order, first] of [
      ['first', true],
      ['last', false],
    ] as const) {
      test(`that sends a message beyond the limit fails that request alone (${processes}, id ${order})`, async (t) => {
        const link = useHub(t).workers[0]!.process(fakeServer({ maxMessageBytes: 65_536, processes }), 'one')
        await begin(link)
        const pid = await pidOf(link)
        const held = result(link, request('hold'))
        const { code, message } = await failure(link, request('large', { bytes: 100_000, first }))
        assert.deepEqual([code, message], ['bad_answer', 'it sent a message of more than 65536 bytes'])
        await result(link, request('release'))
        assert.deepEqual(await held, { released: true })
        assert.equal(await pidOf(link), pid)
      })
    }
  }

  test('may send a message as large as the limit allows', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer({ maxMessageBytes: 40 * 1024 * 1024 }), 'one')
    await begin(link)
    const { text } = await result(link, request('large', { bytes: 20 * 1024 * 1024, first: true }))
    assert.equal(text, 'x'.repeat(20 * 1024 * 1024))
  })
})

function readReply(id: string) {
  const message = readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: {} })))
  assert.ok(!(message instanceof BadMessage))
  return message
}
