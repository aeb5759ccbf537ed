import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { AdminCredentials } from './credentials.ts'
import type { TestContext } from 'node:test'
import { text } from 'node:stream/consumers'
import type { Readiness } from './routes.ts'
import { startServers } from './servers.ts'
import type { RunningServers, ServersOptions } from './servers.ts'
import { NOTHING_BEHIND, useAdmin } from '../testing/admin/admin-servers.ts'

const FROM_HERE = { 'x-portico-same-origin': '1' }

test('metrics are served in pieces on both paths, anything else is not found', async (t) => {
  const { stats } = await start(t, { metrics: () => ['# a\n', 'b 1\n'] })
  for (const path of ['/metrics', '/stats/prometheus?x=1']) {
    const reply = await call(stats, { path })
    assert.deepEqual([reply.status, reply.body], [200, '# a\nb 1\n'])
    assert.match(String(reply.headers['content-type']), /^text\/plain; version=0\.0\.4/)
  }
  assert.equal((await call(stats, { path: '/' })).status, 404)
  assert.equal((await call(stats, { path: '/metrics', method: 'DELETE' })).status, 405)
})

test('readiness tells what is pending, then ready, then draining', async (t) => {
  let state: Readiness = { draining: false, pending: ['config', 'workers'] }
  const { readiness } = await start(t, { readiness: () => state })
  const ready = async () => {
    const { status, body } = await call(readiness, { path: '/healthz/ready' })
    return [status, body]
  }
  assert.deepEqual(await ready(), [503, 'not ready, pending: config, workers\n'])
  state = { draining: false, pending: [] }
  assert.deepEqual(await ready(), [200, 'ready\n'])
  state = { draining: true, pending: [] }
  assert.deepEqual(await ready(), [503, 'draining\n'])
  assert.equal((await call(readiness, { path: '/healthz/ready', method: 'POST' })).status, 405)
  assert.equal((await call(readiness, { path: '/healthz' })).status, 404)
})

test('the liveness probe fails while a worker does not answer', async (t) => {
  let silent: string[] = []
  const { readiness } = await start(t, { silentWorkers: () => Promise.resolve(silent) })
  assert.deepEqual((await call(readiness, { path: '/healthz/live' })).status, 200)
  silent = ['worker-1']
  const { status, body } = await call(readiness, { path: '/healthz/live' })
  assert.deepEqual([status, body], [503, 'workers do not answer: worker-1\n'])
  assert.equal((await call(readiness, { path: '/healthz/live', method: 'POST' })).status, 405)
})

test('the index names every admin path, and each one answers', async (t) => {
  const { admin } = await start(t, { configDump: () => ({ binds: [1] }) })
  const index = await call(admin, { path: '/' })
  for (const path of ['/config_dump', '/logging', '/quitquitquit', '/memory', '/debug/trace'])
    assert.ok(index.body.includes(path), path)
  assert.equal((await call(admin, { path: '/config_dump' })).body, '{\n  "binds": [\n    1\n  ]\n}\n')
  const memory = JSON.parse((await call(admin, { path: '/memory' })).body) as { process: { rss: number } }
  assert.ok(memory.process.rss > 0)
  assert.equal(
    (await call(admin, { path: '/config_dump', method: 'POST', headers: FROM_HERE })).headers.allow,
    'GET, HEAD',
  )
  assert.equal((await call(admin, { path: '/nothing' })).status, 404)
})

test('the log level is shown, set, refused with usage, and reset', async (t) => {
  let filter = 'info'
  const { admin } = await start(t, {
    logFilter: () => filter,
    setLogFilter: (next) => {
      if (next.includes('loud')) return 'no such level'
      filter = next
      return null
    },
  })
  const post = async (path: string) => {
    const { status, body } = await call(admin, { path, method: 'POST', headers: FROM_HERE })
    return [status, body.split('\n')[0]]
  }
  assert.deepEqual(await post('/logging'), [200, 'current log level is info'])
  assert.deepEqual(await post('/logging?level=upstream=debug'), [200, 'current log level is upstream=debug'])
  assert.deepEqual(await post('/logging?level=loud'), [400, 'no such level'])
  assert.equal((await post('/logging?lvel=info'))[0], 400)
  assert.deepEqual(await post('/logging?reset'), [200, 'current log level is info'])
  assert.equal((await call(admin, { path: '/logging' })).status, 405)
})

test('nothing changes without the header that pages of others cannot send', async (t) => {
  let changes = 0
  const count = (): null => {
    changes++
    return null
  }
  const { admin } = await start(t, { quit: count, setLogFilter: count })
  for (const path of ['/quitquitquit', '/logging?level=debug', '/logging?reset', '/api/send', '/nowhere']) {
    const reply = await call(admin, { path, method: 'POST' })
    assert.deepEqual([reply.status, reply.body], [403, 'header x-portico-same-origin required\n'], path)
  }
  assert.equal(changes, 0)
})

test('quitquitquit answers before it starts the drain', async (t) => {
  const quit = Promise.withResolvers<void>()
  const { admin } = await start(t, { quit: quit.resolve })
  const reply = await call(admin, { path: '/quitquitquit', method: 'POST', headers: FROM_HERE })
  assert.deepEqual([reply.status, reply.body], [200, 'shutdown now\n'])
  await quit.promise
})

test('a rebound name, a wrong port, two hosts or a foreign origin are refused and do nothing', async (t) => {
  let quits = 0
  const { admin } = await start(t, { quit: () => (quits += 1) })
  const port = admin.split(':').at(-1)!
  for (const host of [
    `evil.example:${port}`,
    'localhost',
    'localhost:1',
    `localhost.evil.example:${port}`,
    `0.0.0.0:${port}`,
  ]) {
    const reply = await call(admin, { path: '/quitquitquit', method: 'POST', headers: { host } })
    assert.deepEqual([reply.status, reply.body], [403, 'host not allowed\n'], host)
  }
  for (const origin of ['http://evil.example', 'null', 'http://localhost:1', `https://127.0.0.1:${port}`]) {
    const reply = await call(admin, { path: '/quitquitquit', method: 'POST', headers: { origin } })
    assert.deepEqual([reply.status, reply.body], [403, 'origin not allowed\n'], origin)
  }
  for (const head of [
    `GET / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nhost: evil.example\r\nconnection: close\r\n\r\n`,
    'GET / HTTP/1.0\r\n\r\n',
    `GET http://evil.example/ HTTP/1.0\r\nhost: evil.example\r\n\r\n`,
  ]) {
    assert.match(await raw(admin, head), /^HTTP\/1\.1 4\d\d /, head)
  }
  assert.equal(quits, 0)
})

test('the names of the machine itself and the own origin are let in', async (t) => {
  const { admin } = await start(t)
  const port = admin.split(':').at(-1)!
  for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    const origin = `http://${host.toLowerCase()}`
    assert.equal((await call(admin, { path: '/', headers: { host, origin } })).status, 200, host)
  }
})

test('an admin address that others can reach does not start without a token', async () => {
  for (const adminToken of [null, '']) {
    const result = await startServers({
      ...defaults,
      credentials: new AdminCredentials(adminToken),
      addresses: { ...off, admin: '0.0.0.0:0' },
    })
    assert.ok(!result.ok)
    assert.match(result.problems.join(), /admin: address 0\.0\.0\.0:0 .* needs a token/)
  }
})

test('with a token every admin request needs exactly that token', async (t) => {
  const { admin } = await start(t, {
    credentials: new AdminCredentials('s3cret'),
    addresses: { ...loopback, admin: '0.0.0.0:0' },
  })
  const port = admin.split(':').at(-1)!
  const status = async (headers: Record<string, string>) =>
    (await call(`127.0.0.1:${port}`, { path: '/config_dump', headers })).status
  assert.equal(await status({}), 401)
  for (const authorization of ['Bearer wrong', 'Bearer s3cre', 'Bearer s3crett', 'Basic s3cret', 's3cret', 'Bearer ']) {
    assert.equal(await status({ authorization }), 401, authorization)
  }
  assert.equal(await status({ authorization: 'Bearer s3cret' }), 200)
  assert.equal(await status({ authorization: 'bearer s3cret' }), 200)
  assert.equal(await status({ authorization: 'Bearer s3cret', host: `evil.example:${port}` }), 403)
})

test('localhost is bound on both families with one port', async (t) => {
  const running = await startRunning(t, { addresses: { ...off, admin: 'localhost:0' } })
  const [first, second] = running.addresses.admin
  assert.match(first!, /^127\.0\.0\.1:\d+$/)
  if (second !== undefined) assert.equal(second, `[::1]:${first!.split(':')[1]}`)
  for (const address of running.addresses.admin) assert.equal((await call(address, { path: '/' })).status, 200)
})

test('a unix socket is private, replaces one left behind, and leaves other files alone', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'admin-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'a.sock')
  const addresses = { ...off, admin: `unix:${path}` }
  const running = await startRunning(t, { addresses })
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal((await call(`unix:${path}`, { path: '/', headers: { host: 'anything' } })).status, 200)
  const second = await startServers({ ...defaults, addresses })
  assert.ok(!second.ok, 'someone listens there')
  await running.close()
  assert.ok(!existsSync(path))

  const killed = createServer().listen(join(folder, 'b.sock'))
  await once(killed, 'listening')
  renameSync(join(folder, 'b.sock'), path)
  killed.close()
  assert.ok(existsSync(path), 'left behind')
  await startRunning(t, { addresses })
  assert.equal((await call(`unix:${path}`, { path: '/' })).status, 200)

  const file = join(folder, 'precious.txt')
  writeFileSync(file, 'data')
  assert.ok(!(await startServers({ ...defaults, addresses: { ...off, admin: `unix:${file}` } })).ok)
  assert.ok(existsSync(file))
})

test('one bad address closes what was already open, and every problem is told', async (t) => {
  const blocker = createServer().listen(0, '127.0.0.1')
  t.after(() => blocker.close())
  await once(blocker, 'listening')
  const taken = `127.0.0.1:${(blocker.address() as AddressInfo).port}`
  const result = await startServers({
    ...defaults,
    addresses: { admin: '127.0.0.1:0', stats: taken, readiness: 'nowhere' },
  })
  assert.ok(!result.ok)
  assert.equal(result.problems.length, 2)
  assert.match(
    result.problems[0]!,
    /^stats: cannot listen on 127\.0\.0\.1:\d+: it is in use by another program \(STATS_ADDR changes the address\)$/,
  )
  assert.match(result.problems[1]!, /^readiness: found address "nowhere"/)
})

test('a callback that throws is a 500, not the end of the process', async (t) => {
  const { admin } = await start(t, {
    configDump: () => {
      throw new Error('broken')
    },
  })
  const reply = await call(admin, { path: '/config_dump' })
  assert.deepEqual([reply.status, reply.body], [500, 'internal error: broken\n'])
})

test('a client that never finishes its head is cut off after two seconds', async (t) => {
  const { readiness } = await start(t)
  assert.match(await raw(readiness, 'GET /healthz/ready HTTP/1.1\r\nhost:'), /^HTTP\/1\.1 408 /)
})

test('after close nobody answers, and idle connections are gone', async (t) => {
  const running = await startRunning(t)
  const [host, port] = running.addresses.stats[0]!.split(':')
  const idle = connect(Number(port), host)
  await once(idle, 'connect')
  idle.resume()
  await Promise.all([running.close(), once(idle, 'close')])
  await assert.rejects(call(running.addresses.stats[0]!, { path: '/metrics' }), { code: 'ECONNREFUSED' })
})

const off = { admin: 'off', stats: 'off', readiness: 'off' }
const loopback = { admin: '127.0.0.1:0', stats: '127.0.0.1:0', readiness: '127.0.0.1:0' }

const defaults: ServersOptions = { ...NOTHING_BEHIND, addresses: loopback }

async function startRunning(t: TestContext, options: Partial<ServersOptions> = {}): Promise<RunningServers> {
  return (await useAdmin(t, { ...defaults, ...options })).running
}

async function start(t: TestContext, options: Partial<ServersOptions> = {}) {
  const { addresses } = await startRunning(t, options)
  return { admin: addresses.admin[0]!, stats: addresses.stats[0]!, readiness: addresses.readiness[0]! }
}

interface Call {
  path: string
  method?: string
  headers?: Record<string, string>
}

async function call(address: string, options: Call) {
  const sent = request({ ...target(address), agent: false, ...options })
  sent.end()
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

function target(address: string) {
  if (address.startsWith('unix:')) return { socketPath: address.slice('unix:'.length) }
  const colon = address.lastIndexOf(':')
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) }
}

async function raw(address: string, head: string): Promise<string> {
  const [host, port] = address.split(':')
  const socket = connect(Number(port), host)
  socket.write(head)
  return text(socket)
}
