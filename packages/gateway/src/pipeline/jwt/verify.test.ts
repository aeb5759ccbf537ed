import assert from 'node:assert/strict'
import { createHmac, sign as signBytes } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { JWTPayload } from 'jose'
import { readJwkSet } from '../../formats/jwk-set.ts'
import { KeySet } from '../../state/key-set.ts'
import { createSigningKey, forge, ISSUER, keySetOf, sign, type SigningKey } from '../../testing/services/issuer.ts'
import { type Issuer, type KeySource, TokenVerifier, type Verdict } from './verify.ts'

function keySet(...keys: SigningKey[]): KeySet {
  const read = readJwkSet(keySetOf(...keys))
  assert.ok('keys' in read)
  return KeySet.of(read.keys)!
}

function fixed(...keys: SigningKey[]): KeySource {
  const set = keySet(...keys)
  return { current: () => set, renewed: () => null }
}

function issuer(keys: KeySource, more: Partial<Issuer> = {}): Issuer {
  return { issuer: ISSUER, audiences: null, keys, ...more }
}

function verifier(...issuers: Issuer[]): TokenVerifier {
  return new TokenVerifier(issuers, Date.now)
}

async function faultOf(verdict: Verdict | Promise<Verdict>): Promise<string> {
  const known = await verdict
  assert.ok('fault' in known, 'the token was accepted')
  return known.fault
}

const key = createSigningKey('main')
const other = createSigningKey('other')
const rsa = createSigningKey('rsa', 'RS256')
const now = () => Math.floor(Date.now() / 1000)

test('every algorithm that a key allows is accepted', async () => {
  for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']) {
    const own = createSigningKey('k', alg, /^[RP]S/.test(alg) ? rsa : undefined)
    const verdict = await verifier(issuer(fixed(own))).check(await sign(own, { role: 'admin' }))
    assert.ok('claims' in verdict, alg)
    assert.equal(verdict.claims['role'], 'admin')
  }
})

test('a verified token is known at once, concurrent first uses are one', async () => {
  const subject = verifier(issuer(fixed(key)))
  const token = await sign(key)
  const first = [subject.check(token), subject.check(token)]
  assert.equal(first[0], first[1])
  const verdict = await first[0]
  assert.equal(subject.check(token), verdict)
})

test('claims decide', async () => {
  const subject = verifier(issuer(fixed(key), { audiences: ['api', 'web'] }))
  const check = async (claims: JWTPayload) => faultOf(subject.check(await sign(key, claims)))
  assert.ok('claims' in (await subject.check(await sign(key, { aud: ['x', 'web'] }))))
  assert.ok('claims' in (await subject.check(await sign(key, { aud: 'api', exp: now() - 30 }))), 'clocks differ')
  assert.equal(await check({ aud: 'other' }), 'the token is for another audience')
  assert.equal(await check({}), 'the token is for another audience')
  assert.equal(await check({ aud: 'api', exp: now() - 90 }), 'the token has expired')
  assert.equal(await check({ aud: 'api', exp: undefined }), 'the token does not say when it expires')
  assert.equal(await check({ aud: 'api', nbf: now() + 90 }), 'the token is not valid yet')
  assert.equal(await check({ iss: 'https://evil.test/' }), 'the issuer of the token is not known')
  assert.equal(await check({ iss: undefined }), 'the token is malformed')
  assert.equal(await check({ iss: `${ISSUER}/` }), 'the issuer of the token is not known')
})

test('a remembered token ends when it expires', async () => {
  let time = Date.now()
  const subject = new TokenVerifier([issuer(fixed(key))], () => time)
  const token = await sign(key, { exp: Math.floor(time / 1000) + 10 })
  assert.ok('claims' in (await subject.check(token)))
  time += 65_000
  assert.ok('claims' in (await subject.check(token)))
  time += 10_000
  assert.equal(await faultOf(subject.check(token)), 'the token has expired')
})

test('a remembered token ends when its key leaves the set', async () => {
  let set = keySet(key, other)
  const subject = verifier(issuer({ current: () => set, renewed: () => null }))
  const token = await sign(key)
  assert.ok('claims' in (await subject.check(token)))
  set = keySet(other)
  assert.equal(await faultOf(subject.check(token)), 'the key of the token is not known')
})

test('a key that is not in the set is asked for once', async () => {
  let asked = 0
  const renewed = () => {
    asked++
    return Promise.resolve(keySet(key, other))
  }
  const source: KeySource = { current: () => keySet(key), renewed }
  const subject = verifier(issuer(source))
  assert.ok('claims' in (await subject.check(await sign(other))))
  assert.equal(asked, 1)
  assert.equal(
    await faultOf(subject.check(await sign(createSigningKey('nobody')))),
    'the key of the token is not known',
  )
  assert.equal(asked, 2)
})

test('keys that cannot be had refuse the token', async () => {
  const subject = verifier(issuer({ current: () => Promise.resolve(null), renewed: () => null }))
  assert.equal(await faultOf(subject.check(await sign(key))), 'signing keys are not available')
})

test('each issuer has its own keys, and one issuer may have several sets', async () => {
  const subject = verifier(
    issuer(fixed(key), { audiences: ['a'] }),
    issuer(fixed(other), { audiences: ['b'] }),
    issuer(fixed(key), { issuer: 'https://second.test/' }),
  )
  assert.ok('claims' in (await subject.check(await sign(key, { aud: 'a' }))))
  assert.ok('claims' in (await subject.check(await sign(other, { aud: 'b' }))))
  assert.ok('claims' in (await subject.check(await sign(key, { iss: 'https://second.test/' }))))
  assert.ok('fault' in (await subject.check(await sign(key, { aud: 'b' }))))
  assert.ok('fault' in (await subject.check(await sign(other, { iss: 'https://second.test/' }))))
})

test('a token without a key id needs a set of one key', async () => {
  const token = await sign(key, {}, { kid: undefined })
  assert.ok('claims' in (await verifier(issuer(fixed(key))).check(token)))
  assert.equal(await faultOf(verifier(issuer(fixed(key, other))).check(token)), 'the token does not name its key')
})

test('a name in the token means the only key of a set where that key has none', async () => {
  const nameless = { ...key, jwk: { ...key.jwk, kid: undefined } } as unknown as SigningKey
  const another = { ...other, jwk: { ...other.jwk, kid: undefined } } as unknown as SigningKey
  const one = verifier(issuer(fixed(nameless)))
  for (const kid of ['main', 'anything', undefined]) {
    assert.ok('claims' in (await one.check(await sign(key, {}, { kid }))), String(kid))
  }
  assert.equal(await faultOf(one.check(await sign(other))), 'the signature of the token is wrong')
  const secret = createHmac('sha256', key.publicKey.export({ type: 'spki', format: 'pem' }))
  const unsigned = forge({ alg: 'HS256', kid: 'main' }, { iss: ISSUER, exp: now() + 60 })
  const confused = `${unsigned.split('.').slice(0, 2).join('.')}.${secret.update(unsigned.split('.').slice(0, 2).join('.')).digest('base64url')}`
  for (const token of [unsigned, confused, forge({ alg: 'none', kid: 'main' }, { iss: ISSUER, exp: now() + 60 })]) {
    assert.equal(await faultOf(one.check(token)), 'the algorithm of the token does not match its key')
  }
  const several = [verifier(issuer(fixed(nameless, another))), verifier(issuer(fixed(nameless, other)))]
  for (const subject of several) {
    assert.equal(await faultOf(subject.check(await sign(key))), 'the key of the token is not known')
  }
  assert.equal(
    await faultOf(verifier(issuer(fixed(key))).check(await sign(key, {}, { kid: 'x' }))),
    'the key of the token is not known',
  )
})

test('the public key is never taken as a shared secret', async () => {
  const subject = verifier(issuer(fixed(rsa)))
  const payload = { iss: ISSUER, exp: now() + 3600 }
  const secrets = [
    rsa.publicKey.export({ type: 'spki', format: 'pem' }),
    rsa.publicKey.export({ type: 'pkcs1', format: 'der' }),
    JSON.stringify(rsa.jwk),
  ]
  for (const [index, secret] of secrets.entries()) {
    for (const alg of ['HS256', 'HS384', 'HS512']) {
      const unsigned = forge({ alg, kid: 'rsa', attempt: index }, payload)
      const mac = createHmac(alg.replace('HS', 'sha'), secret).update(unsigned.slice(0, -1)).digest('base64url')
      assert.equal(await faultOf(subject.check(unsigned + mac)), 'the algorithm of the token does not match its key')
    }
  }
})

test('unsigned tokens are refused in every spelling', async () => {
  const subject = verifier(issuer(fixed(key)))
  const payload = { iss: ISSUER, exp: now() + 3600 }
  for (const alg of ['none', 'None', 'NONE', '']) {
    const fault = await faultOf(subject.check(forge({ alg, kid: 'main' }, payload)))
    assert.equal(fault, 'the algorithm of the token does not match its key')
  }
  assert.equal(await faultOf(subject.check(forge({ kid: 'main' }, payload))), 'the token is malformed')
  assert.equal(
    await faultOf(subject.check(forge({ alg: 'ES256', kid: 'main' }, payload))),
    'the signature of the token is wrong',
  )
})

test('keys that a token brings or points to are ignored', async () => {
  const attacker = createSigningKey('main')
  const subject = verifier(issuer(fixed(key)))
  for (const header of [
    { jwk: attacker.jwk },
    { jku: 'http://127.0.0.1:1/keys' },
    { x5u: 'http://127.0.0.1:1/cert' },
    { x5c: ['MIIB'] },
  ]) {
    const fault = await faultOf(subject.check(await sign(attacker, {}, header)))
    assert.equal(fault, 'the signature of the token is wrong')
  }
})

test('a key id is only ever compared', async () => {
  const subject = verifier(issuer(fixed(key)))
  for (const kid of [
    '../../dev/null',
    "' OR 1=1 --",
    '__proto__',
    'constructor',
    'main\0',
    'MAIN',
    ' main',
    'x'.repeat(5000),
  ]) {
    assert.equal(await faultOf(subject.check(await sign(key, {}, { kid }))), 'the key of the token is not known')
  }
  for (const kid of [5, ['main'], { main: 1 }, true]) {
    const token = forge({ alg: 'ES256', kid }, { iss: ISSUER })
    assert.equal(await faultOf(subject.check(token)), 'the token is malformed')
  }
})

test('critical extensions are refused', async () => {
  const subject = verifier(issuer(fixed(key)))
  for (const crit of [['b64'], [], ['exp'], null]) {
    const token = forge({ alg: 'ES256', kid: 'main', b64: false, crit }, { iss: ISSUER })
    assert.equal(await faultOf(subject.check(token)), 'the token has extensions that are not supported')
  }
})

test('an algorithm of another key of the set does not help', async () => {
  const narrow = { ...rsa, jwk: { ...rsa.jwk, alg: 'RS256' } }
  const subject = verifier(issuer(fixed(key, narrow)))
  assert.equal(
    await faultOf(subject.check(await sign({ ...rsa, alg: 'PS256' }))),
    'the algorithm of the token does not match its key',
  )
  assert.equal(
    await faultOf(subject.check(await sign(rsa, {}, { kid: 'main' }))),
    'the algorithm of the token does not match its key',
  )
})

const LETTERS = ['A', 'Q', 'g', 'w', '9', '_', '-', '.', '=', '+', '/', ' ', 'é']

test('any change of a token is noticed', async () => {
  const subject = verifier(issuer(fixed(key)))
  const token = await sign(key)
  const parts = token.split('.')
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 2 }), fc.nat(), fc.constantFrom(...LETTERS), async (part, place, letter) => {
      const text = parts[part]!
      const at = place % text.length
      const changed = parts.with(part, text.slice(0, at) + letter + text.slice(at + 1)).join('.')
      if (sameBytes(changed, token)) return
      const verdict = await subject.check(changed)
      assert.ok('fault' in verdict, changed)
      assert.ok(!verdict.fault.includes(parts[1]!.slice(0, 12)))
    }),
    { seed: 23, numRuns: 300 },
  )
})

/** The last letter of a part may have bits that no byte takes; the header and the payload are signed as text. */
function sameBytes(a: string, b: string): boolean {
  const [aHead, aBody, aSignature = '', ...rest] = a.split('.')
  const [bHead, bBody, bSignature = ''] = b.split('.')
  const bytes = (text: string) => Buffer.from(text, 'base64url').toString('hex')
  return rest.length === 0 && aHead === bHead && aBody === bBody && bytes(aSignature) === bytes(bSignature)
}

test('texts of any kind are refused without harm', async () => {
  const subject = verifier(issuer(fixed(key)))
  const piece = fc.oneof(
    fc.string(),
    fc.json().map((text) => Buffer.from(text).toString('base64url')),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 5 }), async (pieces) => {
      assert.ok('fault' in (await subject.check(pieces.join('.'))))
    }),
    { seed: 29, numRuns: 300 },
  )
  assert.equal(await faultOf(subject.check('a'.repeat(20_000))), 'the token is too long')
})

test('a signature over other bytes does not count', async () => {
  const subject = verifier(issuer(fixed(key)))
  const [head, body] = (await sign(key)).split('.')
  const signature = signBytes('sha256', Buffer.from('other'), { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
  const token = `${head}.${body}.${signature.toString('base64url')}`
  assert.equal(await faultOf(subject.check(token)), 'the signature of the token is wrong')
})
