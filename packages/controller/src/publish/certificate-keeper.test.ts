import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { answer, type ReceivedRequest, failCall, useScriptedApi } from '../testing/scripted-api.ts'
import { LIFETIMES } from './authorities.ts'
import { CertificateKeeper } from './certificate-keeper.ts'

const DAY_MS = 86_400_000
const NAMES = ['portico.portico-system.svc', '127.0.0.1']
/** The years that the longest test runs through. */
const YEARS = process.env['PROPERTIES'] === 'full' ? 3 : 1
const ALWAYS = new AbortController().signal

test('the leader creates the authority, and others wait for it', async (t) => {
  const { keeper, api } = await useReplicas(t)
  const [leader, other] = [keeper(), keeper()]
  await other.refresh()
  assert.equal(other.bundle, undefined)
  leader.lead(ALWAYS)
  await leader.refresh()
  await other.refresh()
  assert.ok(leader.bundle?.startsWith('-----BEGIN CERTIFICATE-----'))
  assert.equal(other.bundle, leader.bundle)
  // Each replica has its own certificate, and no Secret contains its key.
  assert.notEqual(other.serving?.cert, leader.serving?.cert)
  for (const { serving } of [leader, other]) assert.ok(isTrusted(serving?.cert, leader.bundle))
  assert.deepEqual(Object.keys(api.secret()?.data ?? {}), ['ca.crt', 'ca.key'])
})

test('two replicas that both believe they lead create one authority', async (t) => {
  const { keeper, api } = await useReplicas(t)
  const all = Array.from({ length: 4 }, () => keeper())
  for (const one of all) one.lead(ALWAYS)
  await Promise.all(all.map((one) => one.refresh()))
  assert.equal(new Set(all.map(({ bundle }) => bundle)).size, 1)
  assert.equal(api.writes(), 1)
  api.advance(LIFETIMES.authorityMs - LIFETIMES.authorityRenewalMs + DAY_MS)
  await Promise.all(all.map((one) => one.refresh()))
  assert.equal(new Set(all.map(({ bundle }) => bundle)).size, 1)
  assert.equal(api.writes(), 2)
})

test('over years, every certificate is trusted by clients with a day-old bundle', async (t) => {
  const { keeper, api } = await useReplicas(t)
  const [leader, other] = [keeper(), keeper()]
  leader.lead(ALWAYS)
  await leader.refresh()
  let known = leader.bundle
  const authorities = new Set<string | undefined>()
  const served = new Set<string | undefined>()
  for (let day = 0; day < YEARS * 365; day++) {
    await leader.refresh()
    // This replica refreshes rarely.
    if (day % 2 === 0) await other.refresh()
    for (const { serving } of [leader, other].slice(0, day === 0 ? 1 : 2)) {
      assert.ok(isTrusted(serving?.cert, known, api.now()), `on day ${day}`)
      assert.ok(isTrusted(serving?.cert, known, api.now() - DAY_MS / 2), `on day ${day}, by a clock that is behind`)
      served.add(serving?.cert)
    }
    assert.ok((known?.match(/BEGIN/g)?.length ?? 0) <= 3)
    known = leader.bundle
    authorities.add(known)
    api.advance(DAY_MS)
  }
  assert.ok(authorities.size >= 2 * YEARS - 1, `${authorities.size} bundles`)
  assert.ok(served.size >= 2 * YEARS * 12 && served.size <= 2 * YEARS * 25, `${served.size} certificates`)
})

test('a successor is distributed for days before it signs', async (t) => {
  const { keeper, api } = await useReplicas(t)
  const leader = keeper()
  leader.lead(ALWAYS)
  await leader.refresh()
  const first = leader.bundle ?? ''
  api.advance(LIFETIMES.authorityMs - LIFETIMES.authorityRenewalMs + DAY_MS)
  await leader.refresh()
  const both = leader.bundle ?? ''
  assert.ok(both.startsWith(first) && both.length > first.length)
  assert.ok(isTrusted(leader.serving?.cert, first, api.now()))
  api.advance(LIFETIMES.spreadMs - 1_000)
  await leader.refresh()
  assert.equal(leader.bundle, both)
  api.advance(2_000)
  await leader.refresh()
  assert.equal(leader.bundle, both.slice(first.length) + first)
  assert.ok(isTrusted(leader.serving?.cert, both.slice(first.length), api.now()))
  // The previous authority has no key any more.
  assert.deepEqual(Object.keys(api.secret()?.data ?? {}), ['ca.crt', 'ca.key', 'previous.crt'])
})

test('an authority that expired while no controller ran is replaced', async (t) => {
  const { keeper, api } = await useReplicas(t)
  const leader = keeper()
  leader.lead(ALWAYS)
  await leader.refresh()
  const before = leader.bundle
  api.advance(LIFETIMES.authorityMs + DAY_MS)
  await leader.refresh()
  assert.notEqual(leader.bundle, before)
  assert.ok(isTrusted(leader.serving?.cert, leader.bundle, api.now()))
})

test('serving certificates are renewed while the API server is unavailable', async (t) => {
  const { keeper, api } = await useReplicas(t)
  const one = keeper()
  one.lead(ALWAYS)
  await one.refresh()
  const before = one.serving
  api.fail(503, 'away')
  api.advance(LIFETIMES.servingMs - LIFETIMES.servingRenewalMs + DAY_MS)
  await one.refresh()
  assert.notEqual(one.serving, before)
  assert.ok(isTrusted(one.serving?.cert, one.bundle, api.now()))
  assert.match(api.troubles[0] ?? '', /503 away/)
})

test('a former leader creates nothing', async (t) => {
  const { keeper, api } = await useReplicas(t)
  const one = keeper()
  const leading = new AbortController()
  one.lead(leading.signal)
  leading.abort()
  await one.refresh()
  assert.equal(api.writes(), 0)
})

for (const [what, data] of [
  ['something else', { other: 'AAAA', 'ca.crt': undefined }],
  ['a certificate without its key', { 'ca.key': undefined }],
  ['a key of another', { 'ca.key': Buffer.from('-----BEGIN PRIVATE KEY-----\nMIGH').toString('base64') }],
  ['half a successor', { 'next.crt': 'AAAA' }],
  ['a text for a predecessor', { 'previous.crt': Buffer.from('hunter2').toString('base64') }],
] as const) {
  test(`a Secret with ${what} is reported and kept, and the known authorities stay in use`, async (t) => {
    const { keeper, api } = await useReplicas(t)
    const one = keeper()
    one.lead(ALWAYS)
    await one.refresh()
    const { bundle, serving } = one
    api.damage({ ...api.secret()?.data, ...data })
    await one.refresh()
    assert.deepEqual([one.bundle, one.serving], [bundle, serving])
    assert.equal(api.writes(), 1)
    assert.match(
      api.troubles[0] ?? '',
      /^Secret portico-system\/portico-ca: `(ca|next|previous)\.crt`.*of this controller$/,
    )
    assert.doesNotMatch(api.troubles.join(), /hunter2|MIGH|PRIVATE/)
  })
}

test('an empty Secret is filled, and its other fields are kept', async (t) => {
  const { keeper, api } = await useReplicas(t)
  const [leader, other] = [keeper(), keeper()]
  api.place({
    type: 'portico.dev/authority',
    metadata: { name: 'portico-ca', namespace: 'portico-system', labels: { a: 'b' } },
  })
  await other.refresh()
  assert.equal(other.bundle, undefined)
  leader.lead(ALWAYS)
  await leader.refresh()
  await other.refresh()
  assert.ok(leader.bundle !== undefined && other.bundle === leader.bundle)
  assert.equal(api.secret()?.type, 'portico.dev/authority')
  assert.deepEqual(api.secret()?.metadata.labels, { a: 'b' })
})

test('runs until it is stopped, and acts at once as new leader', async (t) => {
  const { keeper, api } = await useReplicas(t)
  const one = keeper()
  const end = new AbortController()
  const running = one.run(end.signal)
  await api.received('/api/v1/namespaces/portico-system/secrets/portico-ca')
  const changed = api.changed()
  one.lead(end.signal)
  await changed
  assert.ok(one.serving)
  end.abort()
  await running
})

interface Secret {
  type?: string
  metadata: { name: string; namespace: string; resourceVersion: string; labels?: Record<string, string> }
  data?: Record<string, string | undefined>
}

/** An API server with one versioned Secret, several replicas, and their shared clock. */
async function useReplicas(t: TestContext) {
  let now = Date.now()
  let secret: Secret | undefined
  let version = 0
  let writes = 0
  let failing: { status: number; why: string } | undefined
  const troubles: string[] = []
  const waiting: (() => void)[] = []
  const scripted = await useScriptedApi(t, ({ method, body }: ReceivedRequest, response) => {
    if (failing !== undefined) return failCall(response, failing.status, failing.why)
    const sent = body as Secret
    if (method === 'GET') return secret === undefined ? failCall(response, 404, 'none') : answer(response, 200, secret)
    const isFresh = method === 'POST' ? secret === undefined : sent.metadata.resourceVersion === `${version}`
    if (!isFresh) return failCall(response, 409, 'another was faster')
    writes++
    secret = { ...sent, metadata: { ...sent.metadata, resourceVersion: `${++version}` } }
    answer(response, 200, secret)
  })
  const keeper = (): CertificateKeeper =>
    new CertificateKeeper(scripted.client, {
      namespace: 'portico-system',
      secret: 'portico-ca',
      names: NAMES,
      now: () => now,
      onError: (problem) => troubles.push(problem),
      changed: () => waiting.splice(0).forEach((resolve) => resolve()),
      missingMs: 600_000,
    })
  const api = {
    received: (path: string) => scripted.received(path),
    troubles,
    now: () => now,
    advance: (ms: number) => (now += ms),
    secret: () => secret,
    writes: () => writes,
    fail: (status: number, why: string) => (failing = { status, why }),
    place(placed: { type: string; metadata: Omit<Secret['metadata'], 'resourceVersion'> }) {
      secret = { ...placed, metadata: { ...placed.metadata, resourceVersion: `${++version}` } }
    },
    damage(data: Record<string, string | undefined>) {
      if (secret !== undefined) secret = { ...secret, data }
    },
    changed: () => new Promise<void>((resolve) => waiting.push(resolve)),
  }
  return { keeper, api }
}

function isTrusted(cert: string | undefined, bundle: string | undefined, now = Date.now()): boolean {
  if (cert === undefined || bundle === undefined) return false
  const shown = read(cert)
  const isValid = ({ validFromDate, validToDate }: X509Certificate): boolean =>
    validFromDate.getTime() <= now && validToDate.getTime() > now
  return bundle
    .split(/(?=-----BEGIN)/)
    .map(read)
    .some((known) => isValid(known) && isValid(shown) && shown.checkIssued(known) && shown.verify(known.publicKey))
}

/** Parsed certificates by PEM, because the test inspects the same few on thousands of days. */
const certificates = new Map<string, X509Certificate>()

function read(text: string): X509Certificate {
  const certificate = certificates.get(text) ?? new X509Certificate(text)
  certificates.set(text, certificate)
  return certificate
}
