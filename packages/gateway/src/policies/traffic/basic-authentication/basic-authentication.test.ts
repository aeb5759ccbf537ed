import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { request, sendRaw } from '../../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

const users = [
  'alice:$2y$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO', // secret
  'bob:$apr1$Sa1t.tl8$ECJGR/FeI5tKuF6qDkZbN1', // password
  'carol:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=', // password
  'dave:$5$Sa1t.tl8$XlyWzSlLgdcRHZP9R7miDuhzIaco/kHB20dbb3bdxm9', // password
]

async function setUp(t: TestContext, basicAuthentication: object = {}, more: object = {}) {
  const origin = await useOrigin(t)
  const policies = { basicAuthentication: { users, ...basicAuthentication }, ...more }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const ask = (headers: Record<string, string> = {}, path = '/') => request(gateway.port(), { path, headers })
  return { origin, gateway, ask }
}

const encode = (pair: string) => Buffer.from(pair).toString('base64')
const basic = (pair: string) => ({ authorization: `Basic ${encode(pair)}` })

test('users with every kind of hash get in, and the backend does not see how', async (t) => {
  const { origin, ask } = await setUp(t)
  for (const pair of ['alice:secret', 'bob:password', 'carol:password', 'dave:password', 'alice:secret']) {
    const { status, body } = await ask({ ...basic(pair), 'x-other': '1' })
    assert.equal(`${status} ${body}`, '200 ok', pair)
  }
  for (const { headers } of origin.seen) {
    assert.equal(headers.authorization, undefined)
    assert.equal(headers['x-other'], '1')
  }
})

test('without credentials, or with wrong ones, the client is asked for them', async (t) => {
  const { origin, gateway, ask } = await setUp(t)
  const missing = await ask()
  assert.equal(missing.status, 401)
  assert.equal(missing.body, 'basic authentication failure: no basic authentication credentials found')
  assert.equal(missing.headers['www-authenticate'], 'Basic realm="Restricted"')
  assert.equal((await ask({ authorization: 'Bearer abc' })).body, missing.body)
  const wrong = [
    basic('alice:wrong'),
    basic('alice:wrong'),
    basic('nobody:secret'),
    basic('alice'),
    basic('Alice:secret'),
    basic('alice:secret\n'),
    basic(':'),
    { authorization: 'Basic !!!' },
    { authorization: `Basic ${'A'.repeat(3000)}` },
  ]
  for (const headers of wrong) {
    const answer = await ask(headers)
    assert.equal(answer.status, 401)
    assert.equal(answer.body, 'basic authentication failure: invalid credentials', headers.authorization)
    assert.equal(answer.headers['www-authenticate'], 'Basic realm="Restricted"')
  }
  await gateway.finished(wrong.length + 2)
  assert.ok(gateway.records.every(({ reason }) => reason === 'BasicAuth'))
  assert.equal(origin.seen.length, 0)
})

test('a password may have spaces and any letters, and no control characters', async (t) => {
  const passwords = { ann: 'right word', bob: 'Zoë', eve: 'a\x1fb', mallory: 'a\x7fb' }
  const users = Object.entries(passwords).map(([name, password]) => `${name}:{SHA}${hash('sha1', password, 'base64')}`)
  const { ask } = await setUp(t, { users })
  const pairs = Object.entries(passwords).map((pair) => pair.join(':'))
  const answers = await Promise.all(pairs.map((pair) => ask(basic(pair))))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 401, 401],
  )
})

test('the realm is quoted', async (t) => {
  const { ask } = await setUp(t, { realm: 'Say "hi" \\ now' })
  assert.equal((await ask()).headers['www-authenticate'], 'Basic realm="Say \\"hi\\" \\\\ now"')
})

test('two sets of credentials are one too many', async (t) => {
  const { gateway } = await setUp(t)
  const line = `authorization: ${basic('alice:secret').authorization}\r\n`
  const answer = await sendRaw(gateway.port(), `GET / HTTP/1.1\r\nhost: a\r\n${line}${line}\r\n`)
  assert.equal(answer.body, 'basic authentication failure: more than one set of credentials found')
})

test('Optional lets requests without credentials pass, and no others', async (t) => {
  const { origin, ask } = await setUp(t, { mode: 'Optional' })
  assert.equal((await ask({ authorization: 'Bearer abc' })).status, 200)
  assert.equal(origin.seen[0]!.headers.authorization, 'Bearer abc')
  assert.equal((await ask(basic('alice:wrong'))).status, 401)
  assert.equal((await ask(basic('alice:secret'))).status, 200)
})

test('credentials for a proxy are asked for as a proxy does', async (t) => {
  const location = { header: { name: 'Proxy-Authorization', prefix: 'Basic ' } }
  const { origin, ask } = await setUp(t, { location })
  const missing = await ask()
  assert.equal(missing.status, 407)
  assert.equal(missing.headers['proxy-authenticate'], 'Basic realm="Restricted"')
  assert.equal((await ask({ 'proxy-authorization': `Basic ${encode('alice:secret')}` })).status, 200)
  assert.equal(origin.seen[0]!.headers['proxy-authorization'], undefined)
})

test('many clients with the same credentials are checked once, and a flood of guesses is held back', async (t) => {
  const { ask } = await setUp(t)
  const same = await Promise.all(Array.from({ length: 100 }, () => ask(basic('alice:secret'))))
  assert.ok(same.every(({ status }) => status === 200))
  const guesses = await Promise.all(Array.from({ length: 150 }, (_, index) => ask(basic(`alice:guess ${index}`))))
  const statuses = new Set(guesses.map(({ status }) => status))
  assert.ok(statuses.has(401))
  assert.ok([...statuses].every((status) => status === 401 || status === 503))
  const busy = guesses.find(({ status }) => status === 503)
  if (busy !== undefined) assert.equal(busy.headers['retry-after'], '1')
  assert.equal((await ask(basic('alice:secret'))).status, 200, 'who is known does not wait')
})

test('users may stand in a file or a variable', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'users'), `# staff\n${users.join('\n')}\n`)
  for (const secretRef of [{ file: 'users' }, { env: 'USERS' }]) {
    const origin = await useOrigin(t)
    const config = httpConfig([routeTo(origin, { basicAuthentication: { secretRef } })])
    const gateway = await useGateway(t, config, { dir, env: { USERS: users.join('\n') } })
    assert.equal((await request(gateway.port(), { headers: basic('bob:password') })).status, 200)
    assert.equal((await request(gateway.port(), { headers: basic('bob:wrong') })).status, 401)
  }
})

test('configs that cannot work are refused, and say nothing of the passwords', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'plain'), `${users[0]}\nbob:hunter22\n`)
  const problems = async (basicAuthentication: object) => {
    const config = httpConfig([routeTo({ host: '127.0.0.1:1' }, { basicAuthentication })])
    const error = await useGateway(t, config, { dir }).then(
      () => assert.fail('the config was accepted'),
      (problem: Error) => problem.message,
    )
    assert.ok(!error.includes('hunter22'), error)
    return error
  }
  assert.match(
    await problems({ users: ['bob:hunter22'] }),
    /users\[0\]: found something else than a hash of a known kind/,
  )
  assert.match(
    await problems({ users: ['bob:abJnggxhB/yWI'] }),
    /users\[0\]: found a DES crypt hash of the user "bob", which is not supported: .* `htpasswd -B`/,
  )
  assert.match(await problems({ users: [] }), /a list of 1 to 256 items/)
  assert.match(await problems({}), /exactly one of `users` or `secretRef`/)
  assert.match(
    await problems({ secretRef: { file: 'plain' } }),
    /secretRef: found something else than a hash of a known kind in line 2, expected a file of htpasswd lines/,
  )
  assert.match(
    await problems({ secretRef: { env: 'NOT_SET' } }),
    /secretRef: found `NOT_SET`, but the variable is not set/,
  )
  assert.match(await problems({ secretRef: { name: 'secret' } }), /expected `{file: path}` or `{env: NAME}`/)
})
