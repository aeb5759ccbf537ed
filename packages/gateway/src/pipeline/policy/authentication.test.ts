import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { redact } from '../../redaction/redact.ts'
import { checkCompile } from '../../compile/check.ts'
import { loadConfig } from '../../sources/file.ts'
import { request } from '../../testing/client.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from '../../testing/services/issuer.ts'
import { eventually, useConfigFile, useProgram } from '../../testing/process.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../testing/scene.ts'
import '../../testing/all-features.ts'

/** The results of authentication that the rest of the gateway uses. */

const key = createSigningKey('main')
const jwtAuthentication = { providers: [{ issuer: ISSUER, jwks: { inline: keySetOf(key) } }] }
const basicAuthentication = { users: ['alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='] }
const basic = { authorization: `Basic ${Buffer.from('alice:password').toString('base64')}` }
const data = { alice: { key: 'alice-key-1', metadata: { group: 'staff' } }, bob: 'bob-key-12' }
const apiKeyAuthentication = { secretRef: { data }, location: { header: { name: 'x-api-key' } } }

async function statusOf(port: number, headers: Record<string, string>, path = '/'): Promise<number> {
  return (await request(port, { path, headers })).status
}

test('claims, metadata and names decide who may pass', async (t) => {
  const origin = await useOrigin(t)
  const routes = [
    routeTo(
      origin,
      { jwtAuthentication, authorization: { rules: ['"read:x" in jwt.permissions'] } },
      pathPrefix('/jwt'),
    ),
    routeTo(
      origin,
      { apiKeyAuthentication, authorization: { rules: ['apiKey.group == "staff"'] } },
      pathPrefix('/key'),
    ),
    routeTo(
      origin,
      { basicAuthentication, authorization: { rules: ['basicAuth.username == "alice"'] } },
      pathPrefix('/basic'),
    ),
  ]
  const gateway = await useGateway(t, httpConfig(routes))
  const port = gateway.port()
  const bearer = async (permissions?: string[]) => ({ authorization: `Bearer ${await sign(key, { permissions })}` })
  assert.equal(await statusOf(port, await bearer(['read:x']), '/jwt'), 200)
  assert.equal(await statusOf(port, await bearer(['read:y']), '/jwt'), 403)
  assert.equal(await statusOf(port, await bearer(), '/jwt'), 403)
  assert.equal(await statusOf(port, {}, '/jwt'), 401)
  assert.equal(await statusOf(port, { 'x-api-key': 'alice-key-1' }, '/key'), 200)
  assert.equal(await statusOf(port, { 'x-api-key': 'bob-key-12' }, '/key'), 403)
  assert.equal(await statusOf(port, basic, '/basic'), 200)
})

test('several kinds of authentication must all hold', async (t) => {
  const origin = await useOrigin(t)
  const policies = { jwtAuthentication, apiKeyAuthentication, backend: { auth: { passthrough: {} } } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const token = await sign(key)
  const both = { authorization: `Bearer ${token}`, 'x-api-key': 'alice-key-1' }
  assert.equal(await statusOf(gateway.port(), { authorization: both.authorization }), 401)
  assert.equal(await statusOf(gateway.port(), { 'x-api-key': 'alice-key-1' }), 401)
  assert.equal(await statusOf(gateway.port(), both), 200)
  assert.equal(origin.seen[0]!.headers.authorization, `Bearer ${token}`)
  assert.equal(origin.seen[0]!.headers['x-api-key'], 'alice-key-1')
})

test('authentication before routing guards unknown paths too', async (t) => {
  const origin = await useOrigin(t)
  const policies = [
    {
      name: 'everyone',
      targetRefs: [{ kind: 'Gateway', name: 'default' }],
      traffic: {
        phase: 'PreRouting',
        jwtAuthentication,
        apiKeyAuthentication: { ...apiKeyAuthentication, mode: 'Optional' },
      },
    },
  ]
  const config = { policies, ...httpConfig([routeTo(origin, {}, pathPrefix('/a'))]) }
  const gateway = await useGateway(t, config)
  const headers = { authorization: `Bearer ${await sign(key)}` }
  assert.equal(await statusOf(gateway.port(), {}, '/nothing'), 401)
  assert.equal(await statusOf(gateway.port(), headers, '/nothing'), 404)
  assert.equal(await statusOf(gateway.port(), headers, '/a'), 200)
})

test('no secret shows in a dump of the config', () => {
  const secrets = ['alice-key-1', 'bob-key-12', 'W6ph5Mm5Pz8GgiULbPgzG37mj9g', 'from-env-1', 'inline-key']
  const keyHash = `sha256:${createHash('sha256').update('x').digest('hex')}`
  const policies = {
    basicAuthentication,
    apiKeyAuthentication: { secretRef: { data: { ...data, carol: { keyHash } } } },
    jwtAuthentication,
    backend: { auth: { secretRef: { env: 'KEY' } } },
  }
  const entry = { host: '127.0.0.1:1', policies: { auth: { key: 'inline-key' } } }
  const config = httpConfig([{ policies, backends: [entry] }])
  const loaded = loadConfig(JSON.stringify(config), { file: 'a', dir: '/', env: { KEY: 'from-env-1' } })
  assert.ok(loaded.ok)
  const text = JSON.stringify(loaded.ir)
  const dump = JSON.stringify(redact(loaded.ir))
  for (const secret of [...secrets, keyHash]) {
    assert.ok(text.includes(secret), secret)
    assert.ok(!dump.includes(secret), secret)
  }
  assert.ok(dump.includes('"username":"alice"') && dump.includes('"group":"staff"'))
})

test('problems that only compiling finds are reported before a config goes live', () => {
  const problemsOf = (policies: object) => {
    const config = httpConfig([routeTo({ host: '127.0.0.1:1' }, policies)])
    const loaded = loadConfig(JSON.stringify(config), { file: 'a', dir: '/', env: {} })
    assert.ok(loaded.ok)
    return checkCompile(loaded.ir).map(({ message }) => message)
  }
  const keyHash = `sha256:${createHash('sha256').update('alice-key-1').digest('hex')}`
  const twice = { data: { alice: 'alice-key-1', bob: { keyHash } } }
  assert.deepEqual(problemsOf({ apiKeyAuthentication: { secretRef: twice } }), [
    'found the key of "alice" a second time, as "bob", expected each key once',
  ])
  const users = [...basicAuthentication.users, ...basicAuthentication.users]
  assert.deepEqual(problemsOf({ basicAuthentication: { users } }), [
    'found user "alice" a second time, expected each user once',
  ])
  const point = { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' }
  const providers = [{ issuer: ISSUER, jwks: { inline: JSON.stringify({ keys: [point] }) } }]
  assert.deepEqual(problemsOf({ jwtAuthentication: { providers } }), [
    'found no key that can be used, expected public keys of RSA, EC or Ed25519',
  ])
})

test('the program shows no secret anywhere, and takes changed ones over', async (t) => {
  const origin = await useOrigin(t)
  const policies = {
    apiKeyAuthentication: {
      secretRef: { data: { alice: { file: 'alice.key' } } },
      location: { queryParameter: { name: 'pass' } },
    },
    basicAuthentication: { mode: 'Optional', secretRef: { file: 'users' } },
    backend: { auth: { secretRef: { file: 'backend.key' }, location: { header: { name: 'x-team' } } } },
  }
  const { folder, file } = useConfigFile(t, { config: { workers: 2 }, ...httpConfig([routeTo(origin, policies)]) })
  writeFileSync(join(folder, 'alice.key'), 'alice-secret-1\n')
  writeFileSync(join(folder, 'users'), `${basicAuthentication.users[0]}\n`)
  writeFileSync(join(folder, 'backend.key'), 'backend-secret\n')
  const program = await useProgram(t, { args: ['-f', file] })

  const trace = await fetch(`${program.admin}/debug/trace`, { method: 'POST' })
  const events = trace.body!.pipeThrough(new TextDecoderStream()).getReader()
  let traced = (await events.read()).value ?? ''
  assert.equal(await statusOf(program.port(), basic, '/?pass=alice-secret-1'), 200)
  while (!traced.includes('requestFinished')) traced += (await events.read()).value ?? assert.fail('the trace ended')
  await events.cancel()
  assert.equal(origin.seen[0]!.headers['x-team'], 'backend-secret')

  writeFileSync(join(folder, 'alice.key'), 'alice-secret-2\n')
  await eventually(
    'the new key is known',
    async () => (await statusOf(program.port(), {}, '/?pass=alice-secret-2')) === 200,
  )
  assert.equal(await statusOf(program.port(), {}, '/?pass=alice-secret-1'), 401)

  const dump = await (await fetch(`${program.admin}/config_dump`)).text()
  assert.match(dump, /apiKeyAuthentication/)
  assert.match(traced, /alice/)
  for (const [name, text] of Object.entries({ dump, traced, log: program.stdout(), banner: program.stderr() })) {
    const leaked = /alice-secret|backend-secret|W6ph5Mm5|YWxpY2U6/.exec(text)
    assert.equal(leaked, null, `${name} has ${leaked?.[0]}`)
  }
})
