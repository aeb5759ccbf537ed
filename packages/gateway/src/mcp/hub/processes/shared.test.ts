import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '@portico/http/json'
import { eventually } from '../../../testing/process.ts'
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

const shared = (more: object = {}) => fakeServer({ processes: 'Shared', ...more })

describe('a process for all sessions', () => {
  test('is begun once, by the gateway, and each session hears what it said, in a version of its own', async (t) => {
    const { workers } = useHub(t, 2)
    const spec = shared()
    const links = workers.map((worker, at) => worker.process(spec, `session ${at}`)) as [never, never]
    const begun = [await begin(links[0], '2025-06-18'), await begin(links[1], '2099-01-01')]
    assert.deepEqual(
      begun.map(({ protocolVersion }) => protocolVersion),
      ['2025-06-18', '2025-11-25'],
    )
    const { clientInfo, capabilities } = begun[0]!.asked as JsonObject
    assert.deepEqual([(clientInfo as JsonObject).name, capabilities], ['portico', {}])
    assert.equal(await pidOf(links[0]), await pidOf(links[1]))
    assert.equal((await result(links[0], request('pid'))).initialized, 1)
  })

  test('keeps sessions with the same ids and tokens apart', async (t) => {
    const { workers } = useHub(t, 2)
    const spec = shared()
    const links = workers.map((worker, at) => worker.process(spec, `session ${at}`))
    const answers = await Promise.all(
      links.flatMap((link, at) =>
        ['1', '2'].map(async (text) => {
          const params = { steps: 20, text: `${at}.${text}`, _meta: { progressToken: text, other: 1 } }
          return { expected: params.text, ...(await ask(link, request('progress', params, `id ${text}`))) }
        }),
      ),
    )
    for (const { expected, messages } of answers) {
      assert.equal(messages.length, 21)
      assert.equal(messages.at(-1)!.id, `id ${expected.slice(2)}`)
      for (const { value } of messages.slice(0, -1)) {
        const { progressToken, text } = value.params as JsonObject
        assert.deepEqual([progressToken, text], [expected.slice(2), expected])
      }
    }
  })

  test('changes nothing in a request but its id and its token', async (t) => {
    const link = useHub(t).workers[0]!.process(shared(), 'one')
    const { line } = await result(link, request('echo', { a: [1, { b: 'é' }] }, 'mine'))
    assert.ok(typeof line === 'string')
    assert.match(line, /^\{"jsonrpc":"2.0","id":\d+,"method":"echo","params":\{"a":\[1,\{"b":"é"\}\]\}\}$/)
  })

  test('is told of a cancellation in its own ids, and only by the session that asked', async (t) => {
    const { workers } = useHub(t, 2)
    const spec = shared()
    const [mine, other] = workers.map((worker, at) => worker.process(spec, `session ${at}`)) as [never, never]
    const waiting = ask(mine, request('hold', {}, 'x'))
    await pidOf(mine)
    assert.equal(await tell(other, notification('notifications/cancelled', { requestId: 'x' })), null)
    const kept = ask(other, request('hold', {}, 'x'))
    assert.equal(await tell(mine, notification('notifications/cancelled', { requestId: 'x' })), null)
    assert.deepEqual((await waiting).messages.at(-1)!.value.error, { code: 1, message: 'cancelled' })
    await result(mine, request('release'))
    assert.deepEqual((await kept).messages.at(-1)!.value.result, { released: true })
  })

  test('cannot ask clients, and what nobody can be told apart by reaches none', async (t) => {
    const { workers } = useHub(t, 2)
    const spec = shared()
    const [mine, other] = workers.map((worker, at) => worker.process(spec, `session ${at}`)) as [never, never]
    const heard = [recorder(), recorder()] as const
    workers[0]!.process(spec, 'session 0').listen(heard[0].sink)
    workers[1]!.process(spec, 'session 1').listen(heard[1].sink)
    await result(other, request('resources/subscribe', { uri: 'file:///b' }))
    const messages: JsonObject[] = [
      { id: 'q', method: 'sampling/createMessage', params: {} },
      { id: 'p', method: 'ping' },
      { method: 'notifications/message', params: { data: 'private' } },
      { method: 'notifications/progress', params: { progressToken: 'unknown', progress: 1 } },
      { method: 'notifications/resources/updated', params: { uri: 'file:///a' } },
      { method: 'notifications/resources/updated', params: { uri: 'file:///b' } },
      { method: 'notifications/tools/list_changed' },
    ]
    const said = await ask(mine, request('say', { messages }))
    assert.deepEqual(
      said.messages.map(({ method }) => method),
      ['notifications/tools/list_changed', ''],
    )
    await eventually('heard', () => heard[1].messages.length === 2)
    assert.deepEqual(
      heard[1].messages.map(({ method }) => method),
      ['notifications/resources/updated', 'notifications/tools/list_changed'],
    )
    assert.deepEqual(heard[0].messages, [])
  })

  test('is unsubscribed from a resource by the last session alone', async (t) => {
    const { workers } = useHub(t, 2)
    const spec = shared()
    const [mine, other] = workers.map((worker, at) => worker.process(spec, `session ${at}`)) as [never, never]
    for (const link of [mine, other]) await result(link, request('resources/subscribe', { uri: 'u' }))
    assert.deepEqual(await result(mine, request('resources/unsubscribe', { uri: 'u' })), {})
    assert.deepEqual(await result(other, request('resources/unsubscribe', { uri: 'u' })), {
      method: 'resources/unsubscribe',
    })
  })

  test('that ends fails what is under way everywhere; the next request finds another, begun anew', async (t) => {
    const { workers } = useHub(t, 2)
    const spec = shared()
    const [mine, other] = workers.map((worker, at) => worker.process(spec, `session ${at}`)) as [never, never]
    const waiting = ask(other, request('hold'))
    const pid = await pidOf(mine)
    assert.match((await failure(mine, request('exit', { code: 1 }))).message, /ended with code 1/)
    assert.equal((await waiting).failure?.code, 'broken')
    assert.notEqual(await pidOf(other), pid)
  })

  test('ends when no session has used it for a while', async (t) => {
    const link = useHub(t).workers[0]!.process(shared({ idleTimeoutMs: 200 }), 'one')
    const pid = await pidOf(link)
    await eventually('gone', () => !isAlive(pid))
    assert.notEqual(await pidOf(link), pid)
  })
})
