import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test, type TestContext } from 'node:test'
import { AdminCredentials } from './credentials.ts'
import type { KeysSource } from './keys/keys-routes.ts'
import { authorOf } from './keys/author.ts'
import { startServers } from './servers.ts'
import { NOTHING_BEHIND, useAdmin } from '../testing/admin/admin-servers.ts'

const READER = 'reader-token-0123456789'
const WRITER = 'writer-token-0123456789'
const HERE = { 'x-portico-same-origin': '1' }

/** The endpoints that change something, as `METHOD path`. An endpoint that is added to the admin server belongs here, or is one to read. */
const CHANGES = [
  'POST /logging',
  'POST /api/send',
  'POST /api/config/apply',
  'POST /api/cache/purge',
  'POST /api/rehearsal/start',
  'POST /api/rehearsal/renew',
  'POST /api/rehearsal/end',
  'POST /quitquitquit',
  'POST /api/keys',
  'PATCH /api/keys/<name>',
  'DELETE /api/keys/<name>',
  'POST /api/keys/<name>/{action}',
  'POST /api/teams',
  'PATCH /api/teams/<name>',
  'DELETE /api/teams/<name>',
  'POST /api/prices',
  'DELETE /api/prices',
]

/** Endpoints that take a body and change nothing. */
const READ_BY_POST = [
  'POST /ui/session',
  'DELETE /ui/session',
  'POST /debug/trace',
  'POST /api/config/check',
  'POST /api/backtest',
  'POST /api/expressions/evaluate',
  'POST /api/routes/match',
]

describe('the scope of a token', () => {
  test('is known for every endpoint and method: Read reaches those that change nothing, Write reaches all', async (t) => {
    const { call, asked } = await start(t)
    const listed = await endpointsOf(call)
    const changing = listed.filter(({ method }) => method !== 'GET' && method !== 'HEAD')
    assert.deepEqual(
      new Set(changing.map(({ method, path }) => `${method} ${path}`)),
      new Set([...CHANGES, ...READ_BY_POST]),
      'the table of the admin server and the lists of this test differ',
    )
    for (const { method, path } of listed) {
      const target = path.replaceAll(/<[^>]*>|\{[^}]*\}/g, 'x1')
      // The response of a stream does not end.
      if (/\/stream$|trace$/.test(path)) continue
      const isChange = CHANGES.includes(`${method} ${path}`)
      const { status, body } = await call(method, target, READER)
      if (isChange) {
        assert.equal(status, 403, `${method} ${path}`)
        assert.equal(
          body,
          `the token grafana has the scope Read, and ${method} ${target} needs a token with the scope Write\n`,
        )
      } else assert.notEqual(status, 403, `${method} ${path}: ${body}`)
      if (path === '/quitquitquit') continue
      const written = await call(method, target, WRITER)
      assert.doesNotMatch(written.body, /needs a token with the scope/, `${method} ${path}`)
      assert.notEqual(written.status, 401, `${method} ${path}`)
    }
    assert.ok(asked.length > 0 && asked.every((by) => by.startsWith('token ci, from 127.0.0.1')), String(asked))
  })

  test('holds for paths and methods that no endpoint has', async (t) => {
    const { call } = await start(t)
    for (const [method, path] of [
      ['POST', '/api/new'],
      ['PUT', '/api/keys/x1'],
      ['DELETE', '/api/usage'],
      ['POST', '/api/keys/x1/rotate/'],
      ['POST', '/api/keys//rotate'],
      ['POST', '/api/config/check/'],
      ['POST', '//api/config/check'],
      ['post', '/api/keys'],
    ] as const)
      assert.equal((await call(method, path, READER)).status, 403, `${method} ${path}`)
    for (const path of ['/api/new', '/nothing']) assert.equal((await call('GET', path, READER)).status, 404, path)
  })

  test('is told by the state, with the name of the token', async (t) => {
    const { call } = await start(t)
    const access = async (token: string) =>
      (JSON.parse((await call('GET', '/api/state', token)).body) as { access: unknown }).access
    assert.deepEqual(await access(READER), { token: 'grafana', scope: 'Read' })
    assert.deepEqual(await access(WRITER), { token: 'ci', scope: 'Write' })
    assert.deepEqual(await access('open-sesame'), { token: 'ADMIN_TOKEN', scope: 'Write' })
  })

  test('goes over to the session of the web UI', async (t) => {
    const { call } = await start(t)
    const opened = await call('POST', '/ui/session', READER)
    assert.equal(opened.status, 200, opened.body)
    const cookie = String(opened.headers['set-cookie']).split(';', 1)[0] ?? ''
    const { proof } = JSON.parse(opened.body) as { proof: string }
    const session = { cookie, 'x-portico-session': proof }
    assert.equal((await call('GET', '/api/keys', null, session)).status, 200)
    assert.equal((await call('POST', '/api/keys', null, session)).status, 403)
    assert.equal((await call('DELETE', '/ui/session', null, session)).status, 200)
    assert.equal((await call('GET', '/api/keys', null, session)).status, 401)
  })
})

describe('tokens of the config', () => {
  test('are checked on loopback, too, and replaced while the server runs', async (t) => {
    const { call, credentials } = await start(t, null)
    assert.deepEqual(
      [(await call('GET', '/config_dump')).status, (await call('GET', '/config_dump', 'x')).status],
      [401, 401],
    )
    assert.equal((await call('GET', '/config_dump', READER)).status, 200)
    credentials.use([{ name: 'next', scope: 'Write', secretRef: 'next-token-0123456789' }])
    assert.equal((await call('GET', '/config_dump', READER)).status, 401)
    assert.equal((await call('GET', '/config_dump', 'next-token-0123456789')).status, 200)
    credentials.use([])
    assert.equal((await call('GET', '/config_dump')).status, 200)
  })

  test('open an address that others can reach, which stays closed when the last token goes', async (t) => {
    const credentials = new AdminCredentials(null, TOKENS)
    const addresses = { ...NOTHING_BEHIND.addresses, admin: '0.0.0.0:0' }
    const { at } = await useAdmin(t, { credentials, addresses })
    const call = callsTo(Number(at.split(':')[1]))
    assert.equal((await call('GET', '/config_dump', WRITER)).status, 200)
    credentials.use([])
    for (const token of [null, WRITER]) assert.equal((await call('GET', '/config_dump', token)).status, 401)
    const closed = await startServers({ ...NOTHING_BEHIND, credentials, addresses })
    assert.ok(!closed.ok && closed.problems[0]?.includes('ADMIN_TOKEN, or config.admin.tokens'))
  })

  test('that are listed twice have the narrower scope', async (t) => {
    const { call, credentials } = await start(t, null)
    credentials.use([...TOKENS, { name: 'copy', scope: 'Read', secretRef: WRITER }])
    assert.equal((await call('POST', '/api/keys', WRITER)).status, 403)
  })
})

test('the author of a change is the name of the token, never the token', () => {
  const request = { socket: { remoteAddress: '::ffff:192.0.2.1' } } as IncomingMessage
  const author = (token: string | null, via: 'token' | 'session' | 'none') =>
    authorOf({ token, via, scope: 'Write' }, request)
  assert.equal(author('ci', 'token'), 'token ci, from 192.0.2.1')
  assert.equal(author('ci', 'session'), 'token ci, session of the web UI, from 192.0.2.1')
  assert.equal(author(null, 'none'), 'no token, from 192.0.2.1')
})

// The second token is known by its hash alone.
const TOKENS = [
  { name: 'grafana', scope: 'Read', secretRef: READER },
  {
    name: 'ci',
    scope: 'Write',
    hash: 'sha256:1caf5ddb6778770019772a6363b8cc194d1e3c145d8de3fc2570091710c3771e',
  },
] as const

/** An admin server with a store of keys that refuses everything, and remembers who asked for changes. */
async function start(t: TestContext, variable: string | null = 'open-sesame') {
  const asked: string[] = []
  const keys: KeysSource = {
    ask: (question) => {
      if ('by' in question) asked.push(question.by)
      const list = LISTS.get(question.ask)
      if (list !== undefined) return Promise.resolve({ value: list as never })
      return Promise.resolve({ refused: { status: 404, message: 'there is no such thing' } })
    },
    spent: () => Promise.resolve([]),
  }
  const credentials = new AdminCredentials(variable, TOKENS)
  const { at } = await useAdmin(t, { credentials, keys })
  return { call: callsTo(Number(at.split(':')[1])), credentials, asked }
}

const LISTS: ReadonlyMap<string, object> = new Map<string, object>([
  ['keys', { keys: [], next: null }],
  ['teams', []],
  ['audit', { entries: [], next: null }],
])

type Call = ReturnType<typeof callsTo>

function callsTo(port: number) {
  return async (method: string, path: string, token: string | null = null, others: Record<string, string> = {}) => {
    const body = method === 'GET' || method === 'HEAD' ? null : '{"name":"x1"}'
    const headers = {
      ...HERE,
      ...others,
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== null && { 'content-type': 'application/json', 'content-length': String(body.length) }),
    }
    const sent = send({ host: '127.0.0.1', port, path, method, headers, agent: false }).end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }
}

/** The endpoints of the index page: `METHODS path  summary` in each line. */
async function endpointsOf(call: Call): Promise<{ method: string; path: string }[]> {
  const { body } = await call('GET', '/', READER)
  const lines = body.trimEnd().split('\n')
  assert.ok(lines.length > 25, body)
  return lines.flatMap((line) => {
    const [methods = '', path = ''] = line.split(/ +/)
    return methods.split(',').map((method) => ({ method, path }))
  })
}
