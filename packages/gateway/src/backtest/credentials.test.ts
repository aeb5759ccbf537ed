import assert from 'node:assert/strict'
import { generateKeyPairSync, hash, sign } from 'node:crypto'
import { test } from 'node:test'
import type { SimulatedRequest } from '../simulate/outcome.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { backtest } from './backtest.ts'
import { CLOCK, recordsOf, routesConfig } from './testing/recorded.ts'

const TO_A = 'backends: [{ backend: a }]'

function route(policies: string): string {
  return `[{ name: all, policies: { ${policies} }, ${TO_A} }]`
}

const withHeader = (value: string): Partial<SimulatedRequest> => ({ headers: [['authorization', value]] })

async function counts(
  before: string,
  after: string,
  records: readonly RequestRecord[],
): Promise<Record<string, number>> {
  const report = await backtest({ records, before: await routesConfig(before), after: await routesConfig(after) })
  const { same, unknown } = report
  return { same, unknown, ...report.counts }
}

test('clients with API keys keep them under another config, by the key and not by its name', async () => {
  const keys = (data: string): string => `apiKeyAuthentication: { secretRef: { data: { ${data} } } }`
  const before = route(keys('ann: key-of-ann, bob: key-of-bob'))
  const records = await recordsOf(
    await routesConfig(before),
    [withHeader('Bearer key-of-ann'), withHeader('Bearer key-of-bob'), withHeader('Bearer key-of-nobody'), {}],
    { isBrief: true },
  )
  assert.deepEqual(
    records.map(({ key, status }) => [key, status]),
    [
      ['ann', 200],
      ['bob', 200],
      [null, 401],
      [null, 401],
    ],
  )
  assert.ok(!JSON.stringify(records).includes('key-of-'))
  // A rule that reads the key's name denies only bob. The refused request stays unknown, because any key may have been
  // sent.
  const rule = `authorization: { rules: [{ deny: 'apiKey.name == "bob"' }] }`
  const ruled = route(`${keys('ann: key-of-ann, bob: key-of-bob')}, ${rule}`)
  assert.deepEqual(await counts(before, ruled, records), { same: 2, unknown: 1, 'newly-denied': 1 })
  const renamed = route(keys(`eve: { keyHash: "sha256:${hash('sha256', 'key-of-ann', 'hex')}" }, bob: key-number-2`))
  assert.deepEqual(await counts(before, renamed, records), { same: 2, unknown: 1, 'newly-denied': 1 })
})

test('recorded claims are those of a token that the other config verifies', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwks = JSON.stringify({
    keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'ES256' }],
  })
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = (claims: object): string => {
    const text = `${part({ alg: 'ES256', kid: 'k' })}.${part(claims)}`
    const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
    return `${text}.${signature.toString('base64url')}`
  }
  const policy = (more = '', keys = jwks): string =>
    `jwtAuthentication: { providers: [{ issuer: "https://i.test", jwks: { inline: '${keys}' }${more} }] }`
  const exp = CLOCK / 1000 + 600
  const claims = { iss: 'https://i.test', aud: 'shop', sub: 'ann', groups: ['staff'], exp }
  const before = route(policy())
  const records = await recordsOf(await routesConfig(before), [
    withHeader(`Bearer ${token(claims)}`),
    withHeader(`Bearer ${token({ ...claims, sub: 'bob', groups: [] })}`),
  ])
  assert.deepEqual(
    records.map(({ status }) => status),
    [200, 200],
  )
  const ruled = route(`${policy()}, authorization: { rules: [{ require: '"staff" in jwt.groups' }] }`)
  assert.deepEqual(await counts(before, ruled, records), { same: 1, unknown: 0, 'newly-denied': 1 })
  const audience = route(policy(', audiences: [other]'))
  assert.deepEqual(await counts(before, audience, records), { same: 0, unknown: 0, 'newly-denied': 2 })
  // With other keys for the issuer, the records do not tell whether the new keys include the key of the recorded token.
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  const rotated = route(policy('', JSON.stringify({ keys: [{ ...other, kid: 'z', use: 'sig', alg: 'ES256' }] })))
  assert.deepEqual(await counts(before, rotated, records), { same: 0, unknown: 2 })
})

test('users keep their passwords while their hashes stay the same', async () => {
  const users = (...lines: string[]): string =>
    route(`basicAuthentication: { users: [${lines.map((line) => `'${line}'`).join(', ')}] }`)
  const sha = (password: string): string => `{SHA}${hash('sha1', password, 'base64')}`
  const before = users(`ann:${sha('one')}`, `bob:${sha('two')}`)
  const basic = (pair: string): Partial<SimulatedRequest> => withHeader(`Basic ${Buffer.from(pair).toString('base64')}`)
  const records = await recordsOf(await routesConfig(before), [basic('ann:one'), basic('bob:two')], { isBrief: true })
  const after = users(`ann:${sha('one')}`, `bob:${sha('three')}`)
  assert.deepEqual(await counts(before, after, records), { same: 1, unknown: 0, 'newly-denied': 1 })
})

test('without the config of the records, a credential makes the decision unknown', async () => {
  const before = route('apiKeyAuthentication: { secretRef: { data: { ann: key-of-ann } } }')
  const records = await recordsOf(await routesConfig(before), [withHeader('Bearer key-of-ann')])
  const { unknowns } = await backtest({ records, before: null, after: await routesConfig(before) })
  assert.deepEqual(
    unknowns.map(({ cause }) => cause),
    ['the header authorization is not recorded'],
  )
})
