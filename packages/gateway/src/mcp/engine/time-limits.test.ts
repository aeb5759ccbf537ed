import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { FakeTime } from '../../testing/fake-time.ts'
import type { TestGatewayOptions } from '../../testing/gateway.ts'
import { eventReader, McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { eventually } from '../../testing/process.ts'
import { type Script, type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { httpConfig, until, useGateway } from '../../testing/scene.ts'

const tools = (...names: string[]) => ({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) })
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }

/** Answers lists with one tool. */
const listing: Script = (request) => request.method === 'tools/list' && (request.result(tools('a')), true)

/** Never answers this. */
const hung =
  (method: string): Script =>
  (request) =>
    request.method === method ? true : listing(request)

interface SceneOptions {
  failureMode?: 'FailOpen' | 'FailClosed'
  timeouts?: object
  sessionRouting?: string
  gateway?: TestGatewayOptions
  wellScript?: Script
}

/** A target that is well, and one more with narrow limits. */
async function useBeside(t: TestContext, other: object, options: SceneOptions = {}) {
  const {
    failureMode = 'FailOpen',
    timeouts = { start: '150ms', initialize: '150ms', list: '150ms' },
    gateway: gatewayOptions,
    wellScript = listing,
    ...more
  } = options
  const well = await useTarget(t, wellScript)
  const targets = [
    { name: 'well', static: { host: '127.0.0.1', port: well.port } },
    { name: 'other', timeouts, ...other },
  ]
  const config = httpConfig([{ backends: [{ mcp: { targets, failureMode, ...more } }] }])
  const gateway = await useGateway(t, config, gatewayOptions)
  return { gateway, caller: new McpCaller(gateway.port()), well }
}

/**
 * Reads all it gets, says nothing, and ends with its input. Its output stays open: a program that closes it has failed
 * after a second, and does not hang.
 */
const MUTE = 'while read -r line; do :; done'

const remote = ({ port }: { port: number }) => ({ static: { host: '127.0.0.1', port } })
const script = (text: string) => ({ stdio: { cmd: 'sh', args: ['-c', text] } })

const namesOf = async (caller: McpCaller) => {
  const { messages } = await caller.ask('tools/list')
  return (messages[0]!.result!['tools'] as { name: string }[]).map(({ name }) => name)
}

describe('with FailOpen a target that hangs', () => {
  // Only what hangs has a narrow limit: a busy machine may take its time for the rest.
  for (const [method, timeouts] of Object.entries({
    initialize: { initialize: '150ms' },
    'tools/list': { list: '150ms' },
    'notifications/initialized': { initialize: '3s' },
  })) {
    it(`at ${method} keeps nobody waiting`, async (t) => {
      const { caller } = await useBeside(t, remote(await useTarget(t, hung(method))), { timeouts })
      const names = await namesOf(await caller.begin())
      assert.deepEqual(names, method === 'notifications/initialized' ? ['well_a', 'other_a'] : ['well_a'])
    })
  }

  for (const [what, text] of [
    ['says nothing', MUTE],
    ['says what is no message', '(while :; do echo garbage; sleep 0.05; done) & exec cat > /dev/null'],
    ['says one line without an end', '(while :; do printf garbage; sleep 0.05; done) & exec cat > /dev/null'],
  ] as const) {
    for (const processes of ['PerSession', 'Shared']) {
      it(`and is a program that ${what} is left out and ended (${processes})`, async (t) => {
        const folder = mkdtempSync(join(tmpdir(), 'mcp-limits-'))
        t.after(() => rmSync(folder, { recursive: true }))
        const file = join(folder, 'pid')
        const { stdio } = script(`echo $$ > ${file}; ${text}`)
        const { caller } = await useBeside(t, { stdio: { ...stdio, processes } })
        assert.deepEqual(await namesOf(await caller.begin()), ['well_a'])
        await until(() => !isAlive(pidIn(file)))
      })
    }
  }

  it('at a later page is left out once all pages together take too long', async (t) => {
    let pages = 0
    const target = await useTarget(t, (request) => {
      if (request.method !== 'tools/list') return false
      pages += 1
      const page = { ...tools(`p${pages}`), nextCursor: String(pages) }
      setTimeout(() => request.result(page), 60)
      return true
    })
    const { caller } = await useBeside(t, remote(target))
    assert.deepEqual(await namesOf(await caller.begin()), ['well_a'])
    assert.ok(pages < 60, `${pages} pages`)
  })

  it('does not delay requests of revisions without sessions either', async (t) => {
    const target = await useTarget(
      t,
      (request) => request.method === 'server/discover' || request.method === 'tools/list',
    )
    const { caller } = await useBeside(t, remote(target))
    const discovered = await caller.askModern('server/discover')
    assert.ok(discovered.messages[0]?.result !== undefined, discovered.text)
    const listed = (await caller.askModern('tools/list')).messages[0]?.result
    assert.deepEqual(
      (listed!['tools'] as { name: string }[]).map(({ name }) => name),
      ['well_a'],
    )
  })

  it('at a subscription leaves it to the others', async (t) => {
    const acknowledging = (request: TargetRequest) => {
      if (request.method !== 'subscriptions/listen') return false
      const { _meta, notifications } = request.params as { _meta: object; notifications: object }
      const params = { _meta: { ..._meta, 'io.modelcontextprotocol/subscriptionId': request.id }, notifications }
      request.events().send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params })
      return true
    }
    const well = await useTarget(t, acknowledging)
    const late = await useTarget(t, (request) => request.method === 'subscriptions/listen')
    const targets = [
      { name: 'well', ...remote(well) },
      { name: 'other', ...remote(late), timeouts: { initialize: '150ms' } },
    ]
    const gateway = await useGateway(t, httpConfig([{ backends: [{ mcp: { targets } }] }]))
    const leaving = new AbortController()
    const notifications = { toolsListChanged: true }
    const response = await new McpCaller(gateway.port()).openModern(
      'subscriptions/listen',
      { notifications },
      leaving.signal,
    )
    const { value } = await response.body!.getReader().read()
    assert.match(Buffer.from(value).toString(), /acknowledged/)
    leaving.abort()
  })
})

it('with FailClosed a target that hangs fails the request, by its name', async (t) => {
  const beginning = await useBeside(t, remote(await useTarget(t, hung('initialize'))), { failureMode: 'FailClosed' })
  const begun = await beginning.caller.ask('initialize', INITIALIZE)
  assert.match(begun.messages[0]!.error!.message, /^target other: it did not answer `initialize` in time/)
  await until(() => beginning.well.asked('DELETE').length === 1)
  const listed = await useBeside(t, remote(await useTarget(t, hung('tools/list'))), {
    failureMode: 'FailClosed',
    timeouts: { list: '150ms' },
  })
  const list = await (await listed.caller.begin()).ask('tools/list')
  assert.match(list.messages[0]!.error!.message, /other: it did not answer within 150 ms/)
})

it('a call of a tool may take longer than every limit', async (t) => {
  const time = new FakeTime()
  const target = await useTarget(t, (request) => {
    if (request.method !== 'tools/call') return listing(request)
    void time.advance(3_600_000).then(() => request.result({ content: [] }))
    return true
  })
  const { caller } = await useBeside(t, remote(target), { gateway: { deadlines: time.deadlines } })
  const answer = await (await caller.begin()).ask('tools/call', { name: 'other_a' })
  assert.deepEqual(answer.messages[0]?.result, { content: [] })
})

describe('a client that leaves while its session begins', () => {
  const patient = { timeouts: { start: '10m', initialize: '10m' } }

  for (const sessionRouting of ['Stateful', 'Stateless']) {
    it(`leaves no process and no session behind (${sessionRouting})`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'mcp-limits-'))
      t.after(() => rmSync(folder, { recursive: true }))
      const file = join(folder, 'pid')
      const { caller, gateway, well } = await useBeside(t, script(`echo $$ > ${file}; ${MUTE}`), {
        ...patient,
        sessionRouting,
      })
      const leaving = new AbortController()
      const asked = caller.open({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE }, {}, leaving.signal)
      asked.catch(() => {})
      await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '' && well.asked('initialize').length === 1)
      const pid = pidIn(file)
      assert.ok(isAlive(pid))
      leaving.abort()
      await until(() => !isAlive(pid))
      await until(() => well.asked('DELETE').length === 1)
      await gateway.finished(1)
      assert.equal(gateway.records[0]?.mcp?.outcome, 'cancelled')
    })
  }

  it('and has no session of its own leaves no process behind', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-limits-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'pid')
    const answer =
      '{"jsonrpc":"2.0","id":"portico-initialize","result":{"protocolVersion":"2025-11-25","capabilities":{}}}'
    const late = `echo $$ > ${file}; read line; sleep 0.3; echo '${answer}'; ${MUTE}`
    const { caller } = await useBeside(t, script(late), { ...patient, sessionRouting: 'Stateless' })
    const leaving = new AbortController()
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'other_a' } }
    caller.open(call, {}, leaving.signal).catch(() => {})
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '')
    leaving.abort()
    await until(() => !isAlive(pidIn(file)))
  })
})

function pidIn(file: string): number {
  return Number(readFileSync(file, 'utf8'))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('with FailOpen a target that hung once', () => {
  it('keeps no later request waiting, and is back once it answers again', async (t) => {
    let isHung = true
    const other = await useTarget(t, (request) => (isHung && request.id !== undefined) || listing(request))
    const timeouts = { start: '1100ms', initialize: '1100ms', list: '1100ms' }
    const { caller } = await useBeside(t, remote(other), { timeouts })
    const first = await caller.begin()
    const asked = other.requests.length
    // The failure is known: nothing below takes the limit again.
    const startedAt = performance.now()
    const second = await caller.begin()
    assert.deepEqual(await namesOf(first), ['well_a'])
    assert.deepEqual(await namesOf(second), ['well_a'])
    assert.ok(performance.now() - startedAt < 1_000, `${performance.now() - startedAt}`)
    await until(() => other.requests.length > asked)
    isHung = false
    await eventually('the target is back', async () => (await namesOf(second)).includes('other_a'))
    assert.deepEqual(await namesOf(first), ['well_a', 'other_a'])
  })

  it('does not hold back a subscription', async (t) => {
    const other = await useTarget(t, (request) => request.id !== undefined)
    const timeouts = { start: '1100ms', initialize: '1100ms', list: '1100ms' }
    const wellScript: Script = (request) => {
      if (request.method !== 'subscriptions/listen') return listing(request)
      const _meta = { 'io.modelcontextprotocol/subscriptionId': request.id }
      const acknowledged = { method: 'notifications/subscriptions/acknowledged', params: { notifications: {}, _meta } }
      request.events().send({ jsonrpc: '2.0', ...acknowledged })
      return true
    }
    const { caller } = await useBeside(t, remote(other), { timeouts, wellScript })
    await caller.askModern('tools/list')
    const leaving = new AbortController()
    t.after(() => leaving.abort())
    const startedAt = performance.now()
    const params = { notifications: { toolsListChanged: true } }
    const heard = eventReader(await caller.openModern('subscriptions/listen', params, leaving.signal))
    assert.match((await heard())!.data, /acknowledged/)
    assert.ok(performance.now() - startedAt < 1_000, `${performance.now() - startedAt}`)
  })
})
