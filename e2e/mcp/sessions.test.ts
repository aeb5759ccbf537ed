import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { connectStreamable } from './clients/sdk2.ts'
import { remoteTargets, useMcpGateway } from './gateway.ts'
import { processesWith } from './processes.ts'
import { RawSession } from './raw-session.ts'
import { startReferenceServer } from './reference/server.ts'
import { tinyTarget } from './stdio-targets.ts'

/** Sessions that outlive the gateway, and processes that do not outlive their sessions. */

test('kill -9 in the middle of 100 sessions: all 100 continue', async (t) => {
  const server = await startReferenceServer()
  t.after(() => server.close())
  const gateway = await useMcpGateway(t, { one: remoteTargets({ whole: server.port }) })
  const clients = await Promise.all(times(100, () => connectStreamable(gateway.url('one'), 'legacy')))
  t.after(() => Promise.all(clients.map((client) => client.close())))
  for (const client of clients) assert.equal(await client.call('count_calls'), '1')
  assert.equal(server.sessions.size, 100)
  // Calls that are on their way when it dies are lost; sessions are not.
  const lost = clients.map((client) => client.call('test_tool_with_progress').catch(() => 'lost'))
  await gateway.killAndRestart()
  await Promise.all(lost)
  const counts = await Promise.all(clients.map((client) => client.call('count_calls')))
  assert.deepEqual(
    counts.filter((count) => count !== '2'),
    [],
    'each session went on where it was',
  )
  assert.equal(server.sessions.size, 100, 'no session was begun anew')
})

test('another replica with the same key goes on with a session', async (t) => {
  const server = await startReferenceServer()
  t.after(() => server.close())
  const backends = { one: remoteTargets({ whole: server.port }) }
  const [first, second, stranger] = await Promise.all([
    useMcpGateway(t, backends),
    useMcpGateway(t, backends),
    useMcpGateway(t, backends, { sessionKey: randomBytes(32).toString('hex') }),
  ])
  const session = new RawSession(first.url('one'))
  assert.ok(await session.open())
  assert.equal(await session.call('count_calls'), '1')
  session.url = second.url('one')
  assert.equal(await session.call('count_calls'), '2')
  session.url = stranger.url('one')
  await assert.rejects(session.call('count_calls'), /404/)
})

test('a target that lost its sessions is asked for new ones, and clients do not notice', async (t) => {
  const server = await startReferenceServer()
  t.after(() => server.close())
  const gateway = await useMcpGateway(t, { one: remoteTargets({ whole: server.port }) })
  const client = await connectStreamable(gateway.url('one'), 'legacy')
  t.after(() => client.close())
  assert.equal(await client.call('count_calls'), '1')
  server.sessions.forget()
  assert.equal(await client.call('count_calls'), '1', 'the new session knows nothing of the old one')
  assert.equal(await client.call('count_calls'), '2')
})

test('two workers, 200 sessions at once: every call finds its session', async (t) => {
  const server = await startReferenceServer()
  t.after(() => server.close())
  const gateway = await useMcpGateway(t, { one: remoteTargets({ whole: server.port }) })
  const sessions = times(200, () => new RawSession(gateway.url('one')))
  assert.deepEqual(
    await Promise.all(sessions.map((session) => session.open())),
    times(200, () => true),
  )
  for (let round = 1; round <= 5; round++) {
    const counts = await Promise.all(sessions.map((session) => session.call('count_calls')))
    assert.deepEqual(
      counts,
      times(200, () => String(round)),
    )
  }
})

test('two workers, 40 sessions with a process each: every call finds its process', async (t) => {
  const mark = uniqueMark()
  const gateway = await useMcpGateway(t, { tiny: { mcp: { targets: [tinyTarget('tiny', mark)] } } })
  const sessions = times(40, () => new RawSession(gateway.url('tiny')))
  assert.deepEqual(
    await Promise.all(sessions.map((session) => session.open())),
    times(40, () => true),
  )
  const pids = await Promise.all(sessions.map((session) => session.call('pid')))
  assert.equal(new Set(pids).size, 40)
  for (let round = 0; round < 5; round++) {
    assert.deepEqual(await Promise.all(sessions.map((session) => session.call('pid'))), pids)
  }
})

const noProc = existsSync('/proc/self/cmdline') ? false : 'needs /proc'

test(
  '1,000 sessions with processes, opened and dropped: none is left after the idle limit',
  { skip: noProc },
  async (t) => {
    const mark = uniqueMark()
    const cap = 100
    const targets = [tinyTarget('tiny', mark, { maxProcesses: cap })]
    const gateway = await useMcpGateway(t, { tiny: { mcp: { targets, sessionIdleTimeout: '1s' } } })
    let opened = 0
    let most = 0
    const openSessions = async (): Promise<void> => {
      while (opened < 1_000) {
        // If there is no room, the client tries again later, as the error says.
        if (await new RawSession(gateway.url('tiny')).open()) opened++
        else await delay(50)
        most = Math.max(most, processesWith(mark).length)
      }
    }
    await Promise.all(times(16, openSessions))
    assert.ok(most > 0 && most <= cap, `at most ${cap} processes at once, there were ${most}`)
    await eventually('no process is left', () => processesWith(mark).length === 0)
  },
)

test('kill -9 of the gateway: processes see that nobody speaks to them, and end', { skip: noProc }, async (t) => {
  const mark = uniqueMark()
  const gateway = await useMcpGateway(t, { tiny: { mcp: { targets: [tinyTarget('tiny', mark)] } } })
  const sessions = times(5, () => new RawSession(gateway.url('tiny')))
  for (const session of sessions) assert.ok(await session.open())
  assert.equal(processesWith(mark).length, 5)
  gateway.program.child.kill('SIGKILL')
  await gateway.program.ended
  await eventually('no process is left', () => processesWith(mark).length === 0)
})

/** A word that no other process has in its command line. */
function uniqueMark(): string {
  return `portico-${randomBytes(8).toString('hex')}`
}

function times<Value>(count: number, make: () => Value): Value[] {
  return Array.from({ length: count }, make)
}
