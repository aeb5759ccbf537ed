import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime'
import { SignatureV4 } from '@smithy/signature-v4'
import * as fc from 'fast-check'
import type { SignableRequest, SignatureHeaders } from '../../pipeline/cloud-credentials.ts'
import { isSigned } from './canonical-request.ts'
import { createSigV4 } from './sigv4.ts'

const KEYS = { accessKey: 'AKIDEXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', sessionToken: null }
const NOW = Date.UTC(2026, 10, 15, 7, 8, 9, 123)

type Chunk = string | ArrayBuffer | ArrayBufferView

function bytesOf(chunk: Chunk): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return ArrayBuffer.isView(chunk) ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.from(chunk)
}

/** The hash that the oracle uses; with a secret it is an HMAC. */
class Sha256 {
  readonly #hash
  constructor(secret?: Chunk) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }
  update(chunk: Chunk): void {
    this.#hash.update(bytesOf(chunk))
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()))
  }
  reset(): void {}
}

interface Case {
  method: string
  /** The path as sent. */
  path: string
  parameters: [string, string][]
  headers: Record<string, string>
  body: Buffer
  service: string
  sessionToken: string | null
}

async function oracle({ method, path, parameters, headers, body, service, sessionToken }: Case): Promise<string> {
  const signer = new SignatureV4({
    credentials: {
      accessKeyId: KEYS.accessKey,
      secretAccessKey: KEYS.secretKey,
      ...(sessionToken !== null && { sessionToken }),
    },
    region: 'eu-west-1',
    service,
    sha256: Sha256,
    uriEscapePath: service !== 's3',
  })
  const query: Record<string, string[]> = Object.create(null)
  for (const [name, value] of parameters) (query[name] ??= []).push(value)
  const host = 'a.example'
  const request = { method, protocol: 'https:', hostname: host, path, query, headers: { ...headers, host }, body }
  const signed = await signer.sign(request, { signingDate: new Date(NOW) })
  return signed.headers['authorization']!
}

function ours(given: Case): SignatureHeaders {
  const encode = (text: string) =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
  const query = given.parameters.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
  const request: SignableRequest = {
    method: given.method,
    target: query === '' ? given.path : `${given.path}?${query}`,
    authority: 'a.example',
    headers: Object.entries(given.headers),
    body: given.body,
  }
  const sign = createSigV4({ region: 'eu-west-1', service: given.service })
  return sign(request, { ...KEYS, sessionToken: given.sessionToken }, NOW)
}

function valueOf(headers: SignatureHeaders, name: string): string | undefined {
  return headers.find(([key]) => key === name)?.[1]
}

const pathText = fc.string({ unit: fc.constantFrom(...'/abcZ09-._~%:+@!$&\'()*,;=|"<>^`{}[]'.split('')) })
const path = pathText.map((text) => `/${text}`).filter((text) => !/(^|\/)\.{1,2}(\/|$)/.test(text))
const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const name = fc
  .tuple(
    fc.constantFrom('x-amz-', 'X-Amz-Meta-', 'x-amzn-'),
    fc.string({ unit: fc.constantFrom(...'abc012-'.split('')), minLength: 1, maxLength: 8 }),
  )
  .map((parts) => parts.join(''))
  .filter((each) => !['x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token', 'x-amzn-trace-id'].includes(each))
const value = fc.string({ unit: fc.constantFrom(...' \tabcXYZ019,;="/'.split('')) })
const request: fc.Arbitrary<Case> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
  path,
  parameters: fc.array(
    fc.tuple(
      text.filter((each) => each !== '' && each !== '__proto__'),
      text,
    ),
    { maxLength: 5 },
  ),
  headers: fc
    .tuple(
      fc.dictionary(name, value, { noNullPrototype: true }),
      fc.option(
        value.map((type) => ({ 'Content-Type': type })),
        { nil: {} },
      ),
    )
    .map(([own, type]) => ({ ...unique(own), ...type })),
  body: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  service: fc.constantFrom('bedrock', 'execute-api', 's3'),
  sessionToken: fc.option(fc.string({ unit: fc.constantFrom(...'abc/+=09'.split('')), minLength: 1 })),
})

/** Drops headers whose names differ only in case: the oracle would keep just one of them. */
function unique(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(new Map(Object.entries(headers).map(([key, each]) => [key.toLowerCase(), each])))
}

test('signatures are those of the vendor, whatever the request', async () => {
  await fc.assert(
    fc.asyncProperty(request, async (given) => {
      assert.equal(valueOf(ours(given), 'authorization'), await oracle(given))
    }),
    { numRuns: 500 },
  )
})

test('model ids in a path are signed as they are sent', async () => {
  const base = {
    method: 'POST',
    parameters: [],
    headers: {},
    body: Buffer.from('{}'),
    service: 'bedrock',
    sessionToken: null,
  }
  for (const sent of [
    '/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
    '/model/anthropic.claude-sonnet-4-5-20250929-v1:0/converse',
    '/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Ainference-profile%2Feu.x/converse-stream',
    '//double//slashes/',
    '/',
  ]) {
    assert.equal(valueOf(ours({ ...base, path: sent }), 'authorization'), await oracle({ ...base, path: sent }), sent)
  }
})

test("a request of the vendor's own client is signed as the vendor signs the same headers", async () => {
  let seen: { method: string; path: string; hostname: string; headers: Record<string, string>; body: string } | null =
    null
  const client = new BedrockRuntimeClient({
    region: 'eu-west-1',
    credentials: { accessKeyId: KEYS.accessKey, secretAccessKey: KEYS.secretKey, sessionToken: 'token' },
    requestHandler: {
      handle(sent: NonNullable<typeof seen>) {
        seen = sent
        return Promise.reject(new Error('seen'))
      },
    } as never,
    maxAttempts: 1,
  })
  await assert.rejects(
    client.send(new ConverseCommand({ modelId: 'a.b-v1:0', messages: [{ role: 'user', content: [{ text: 'hi' }] }] })),
  )
  const { method, path: target, hostname, headers, body } = seen!
  const time = headers['x-amz-date']!.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')
  // The vendor's client signs a few more irrelevant headers; the comparison uses the headers that both sign.
  const names = /SignedHeaders=([^,]*)/.exec(headers['authorization']!)![1]!.split(';')
  assert.ok(names.includes('host') && names.includes('x-amz-security-token'))
  const signed = createSigV4({ region: 'eu-west-1', service: 'bedrock' })(
    { method, target, authority: hostname, headers: Object.entries(headers), body: Buffer.from(body) },
    { ...KEYS, sessionToken: 'token' },
    Date.parse(time),
  )
  const again = new SignatureV4({
    credentials: { accessKeyId: KEYS.accessKey, secretAccessKey: KEYS.secretKey, sessionToken: 'token' },
    region: 'eu-west-1',
    service: 'bedrock',
    sha256: Sha256,
  })
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([each]) => each === 'host' || (isSigned(each) && each !== 'x-amz-date')),
  )
  const expected = await again.sign(
    {
      method,
      path: target,
      hostname,
      protocol: 'https:',
      query: {},
      headers: { ...kept, host: hostname },
      body,
    },
    { signingDate: new Date(time) },
  )
  assert.equal(valueOf(signed, 'authorization'), expected.headers['authorization'])
})

test('headers of the client with the names of signature headers are ignored', () => {
  const base = {
    method: 'GET',
    path: '/',
    parameters: [],
    body: Buffer.alloc(0),
    service: 'bedrock',
    sessionToken: 't',
  } satisfies Partial<Case>
  const spoofed = {
    'X-Amz-Date': '20200101T000000Z',
    'x-amz-security-token': 'mine',
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    host: 'evil',
  }
  assert.deepEqual(ours({ ...base, headers: spoofed }), ours({ ...base, headers: {} }))
})

test('several headers of one name are signed as one list, and traces of load balancers not at all', () => {
  const sign = createSigV4({ region: 'eu-west-1', service: 'bedrock' })
  const base = { method: 'GET', target: '/', authority: 'a.example', body: Buffer.alloc(0) }
  const lines = sign(
    {
      ...base,
      headers: [
        ['x-amz-a', '1'],
        ['X-AMZ-A', '2 '],
        ['x-amzn-trace-id', 'x'],
        ['accept', '*'],
      ],
    },
    KEYS,
    NOW,
  )
  const list = sign({ ...base, headers: [['x-amz-a', '1,2']] }, KEYS, NOW)
  assert.deepEqual(lines, list)
  assert.match(valueOf(lines, 'authorization')!, /SignedHeaders=host;x-amz-a;x-amz-content-sha256;x-amz-date,/)
})

test('queries with equal decoded values have equal signatures', () => {
  const sign = createSigV4({ region: 'eu-west-1', service: 'bedrock' })
  const of = (target: string) =>
    sign({ method: 'GET', target, authority: 'a', headers: [], body: Buffer.alloc(0) }, KEYS, NOW)
  assert.deepEqual(of('/?b=%c3%a9&a=%7e%2F&c'), of('/?a=~/&b=%C3%A9&c='))
  assert.deepEqual(of('/?a=100%&&'), of('/?a=100%25'))
  assert.deepEqual(of('/?%80=%FF'), of('/?%80=%ff'))
  assert.notDeepEqual(of('/?a=1'), of('/?a=2'))
})

test('keys and days do not mix in the cache', () => {
  const sign = createSigV4({ region: 'eu-west-1', service: 'bedrock' })
  const empty = { method: 'GET', target: '/', authority: 'a', headers: [], body: Buffer.alloc(0) }
  const fresh = (keys: typeof KEYS, now: number) =>
    createSigV4({ region: 'eu-west-1', service: 'bedrock' })(empty, keys, now)
  const other = { ...KEYS, secretKey: 'other' }
  for (const [keys, now] of [
    [KEYS, NOW],
    [other, NOW],
    [KEYS, NOW],
    [KEYS, NOW + 86_400_000],
  ] as const) {
    assert.deepEqual(sign(empty, keys, now), fresh(keys, now))
  }
})
