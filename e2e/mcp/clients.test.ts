import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import type { Library, TestClient } from './clients/client.ts'
import { libraries } from './clients/libraries.ts'
import { remoteTargets, useMcpGateway } from './gateway.ts'
import { startOldServer } from './old-server.ts'
import { RawSession } from './raw-session.ts'
import { tools } from './reference/tools.ts'
import { startReferenceServer } from './reference/server.ts'

/** The official client libraries, unchanged, through a gateway to servers of both major lines. */
test('client libraries', async (t) => {
  const whole = await startReferenceServer({ pageSize: 7 })
  const first = await startReferenceServer({ name: 'first', pageSize: 5 })
  const old = await startOldServer()
  t.after(() => Promise.all([whole, first, old].map((server) => server.close())))
  const gateway = await useMcpGateway(t, {
    one: remoteTargets({ whole: whole.port }),
    two: remoteTargets({ first: first.port, old: old.port }, { prefixMode: 'Conditional' }),
    old: remoteTargets({ old: old.port }),
    stateless: remoteTargets({ whole: whole.port }, { sessionRouting: 'Stateless' }),
    sse: { mcp: { targets: [{ name: 'old', static: { host: '127.0.0.1', port: old.port, protocol: 'SSE' } }] } },
  })

  await t.test('every revision with sessions is agreed on, by the client and by the target', async () => {
    for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      const session = new RawSession(gateway.url('one'), revision)
      assert.ok(await session.open())
      assert.equal(session.agreed, revision)
      assert.equal(await session.call('echo', { message: revision }), revision)
    }
  })

  for (const library of libraries) {
    await t.test(library.name, async (t) => {
      await t.test('one target: everything as if it were not there', (t) => oneTarget(t, library, gateway.url('one')))
      await t.test('two targets: names say which', (t) => twoTargets(t, library, gateway.url('two')))
      await t.test('a call that is given up ends at the server', async (t) => {
        const client = await useClient(t, library, gateway.url('one'))
        const before = whole.cancelled()
        await givesUp(client)
        await eventually('the server is told', () => whole.cancelled() > before)
        assert.equal(await client.call('echo', { message: 'still here' }), 'still here')
      })
      if (!library.name.endsWith('SSE')) {
        await t.test('a gateway that keeps no sessions', (t) => stateless(t, library, gateway.url('stateless')))
      }
      await t.test('a server of the first major line', (t) => oldTarget(t, library, gateway.url('old')))
      await t.test('a server that speaks SSE', (t) => oldTarget(t, library, gateway.url('sse')))
    })
  }
})

async function oneTarget(t: TestContext, library: Library, url: string): Promise<void> {
  const client = await useClient(t, library, url)
  assert.equal(client.revision, library.isAsked === 'between calls' ? '2026-07-28' : '2025-11-25')
  assert.equal(client.serverName, 'reference')
  assert.equal(client.instructions, 'How to use reference.')
  assert.deepEqual(
    await client.toolNames(),
    tools.map(({ name }) => name),
  )
  assert.equal((await client.promptNames()).length, 5)
  assert.ok((await client.resourceUris()).includes('test://static-text'))
  assert.ok((await client.templateUris()).includes('test://template/{id}/data'))
  assert.equal(await client.call('echo', { message: 'grüße' }), 'grüße')
  assert.equal(await client.read('test://template/7/data'), '{"id":"7","templateTest":true,"data":"Data for ID: 7"}')
  assert.match(await client.prompt('test_prompt_with_arguments', { arg1: 'x', arg2: 'y' }), /arg1='x', arg2='y'/)
  assert.deepEqual(await client.complete('test_prompt_with_arguments', 'arg1', 'par'), ['paris', 'park', 'party'])
  await assert.rejects(client.call('test_error_handling'), /intentionally/)
  await assert.rejects(client.call('no_such_tool'), /no_such_tool/)
  await toldOfProgress(client, 'test_tool_with_progress')
  await answersQuestions(client, library, '')
  await toldOfChanges(client, '')
  await client.leave()
}

async function twoTargets(t: TestContext, library: Library, url: string): Promise<void> {
  const client = await useClient(t, library, url)
  assert.match(client.instructions, /How to use first\./)
  const names = await client.toolNames()
  assert.deepEqual(names.slice(0, tools.length), tools.map(({ name }) => `first_${name}`).map(shortened(names)))
  assert.deepEqual(names.slice(tools.length), ['old_echo', 'old_count_calls', 'old_ask', 'old_change'])
  assert.deepEqual((await client.promptNames()).slice(-2), ['first_test_input_required_result_prompt', 'old_hello'])
  assert.ok((await client.resourceUris()).includes('old+old://note'))
  assert.ok((await client.templateUris()).includes('first+test://template/{id}/data'))
  assert.equal(await client.call('first_echo', { message: 'one' }), 'one')
  assert.equal(await client.call('old_echo', { message: 'two' }), 'two')
  await eventually('the stream of the session is open', async () => (await client.call('old_ask')) === 'ada')
  assert.equal(await client.read('old+old://note'), 'A note.')
  assert.match(await client.read('first+test://static-text'), /static text/)
  assert.match(await client.call('first_link_resource'), /first\+test:\/\/static-text/)
  assert.equal(await client.prompt('old_hello'), 'Hello.')
  assert.deepEqual(await client.complete('first_test_prompt_with_arguments', 'arg2', 'pari'), ['paris'])
  await assert.rejects(client.call('echo', { message: 'whose?' }), /echo/)
  await toldOfProgress(client, 'first_test_tool_with_progress')
  await answersQuestions(client, library, 'first_')
  await toldOfChanges(client, 'first_')
}

/** Nothing lasts longer than a call; what happens within one is the same. */
async function stateless(t: TestContext, library: Library, url: string): Promise<void> {
  const client = await useClient(t, library, url)
  assert.equal(client.serverName, 'reference')
  assert.equal((await client.toolNames()).length, tools.length)
  assert.equal(await client.call('echo', { message: 'once' }), 'once')
  assert.match(await client.read('test://static-text'), /static text/)
  await toldOfProgress(client, 'test_tool_with_progress')
}

async function oldTarget(t: TestContext, library: Library, url: string): Promise<void> {
  const client = await useClient(t, library, url)
  assert.equal(client.serverName, 'old')
  assert.deepEqual(await client.toolNames(), ['echo', 'count_calls', 'ask', 'change'])
  assert.equal(await client.call('echo', { message: 'old' }), 'old')
  assert.equal(await client.read('old://note'), 'A note.')
  assert.equal(await client.prompt('hello'), 'Hello.')
  // It asks on the stream that its session has of its own, whatever the client speaks.
  await eventually('the stream of the session is open', async () => (await client.call('ask')) === 'ada')
  if (library.isAsked === 'within the call') {
    assert.equal(await client.call('count_calls'), '1')
    assert.equal(await client.call('count_calls'), '2')
  }
}

async function useClient(t: TestContext, library: Library, url: string): Promise<TestClient> {
  const client = await library.connect(url)
  t.after(() => client.close())
  return client
}

async function toldOfProgress(client: TestClient, tool: string): Promise<void> {
  const heard: number[] = []
  await client.call(tool, {}, { onprogress: ({ progress }) => void heard.push(progress) })
  assert.deepEqual(heard, [0, 50, 100])
}

/** Calls a tool that takes long, hears that it has begun, and wants no answer any more. */
async function givesUp(client: TestClient): Promise<void> {
  const nobody = new AbortController()
  const call = client.call('wait', {}, { signal: nobody.signal, onprogress: () => nobody.abort() })
  await assert.rejects(call)
}

async function answersQuestions(client: TestClient, library: Library, prefix: string): Promise<void> {
  if (library.isAsked === 'within the call') {
    assert.match(await client.call(`${prefix}test_sampling`, { prompt: 'capital?' }), /Paris/)
    assert.match(await client.call(`${prefix}test_elicitation`, { message: 'who?' }), /ada@example\.com/)
    assert.equal(await client.call(`${prefix}list_roots`), 'file:///home/test')
  }
  // A server that needs input first asks clients with sessions within the call.
  assert.match(await client.call(`${prefix}test_input_required_result_sampling`), /Paris/)
  assert.equal(await client.call(`${prefix}test_input_required_result_elicitation`), 'Hello, Ada!')
}

async function toldOfChanges(client: TestClient, prefix: string): Promise<void> {
  const heard: string[] = []
  await client.watch((method) => void heard.push(method))
  // The stream that tells of changes may not be open yet: libraries open it behind the scenes.
  await eventually('the change of the list of prompts is heard', async () => {
    await client.call(`${prefix}test_trigger_prompt_change`)
    return heard.includes('notifications/prompts/list_changed')
  })
}

/** Names longer than clients take are cut, and end in a hash. */
function shortened(known: string[]) {
  return (name: string) =>
    name.length <= 64 ? name : (known.find((other) => other.startsWith(name.slice(0, 40))) ?? name)
}
