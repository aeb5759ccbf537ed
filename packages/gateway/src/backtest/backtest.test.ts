import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backtest } from './backtest.ts'
import type { BacktestReport } from './report.ts'
import { recordsOf, routesConfig } from './testing/recorded.ts'
import type { SimulatedRequest } from '../simulate/outcome.ts'

const TO_A = 'backends: [{ backend: a }]'
const TO_B = 'backends: [{ backend: b }]'

interface Case {
  before: string
  after: string
  requests: Partial<SimulatedRequest>[]
  /** Whether the records lack headers, as the records of most passed requests do. */
  isBrief?: boolean
  /** Whether the back-test runs without the config that decided the records. */
  isBlind?: boolean
}

async function compare({ before, after, requests, isBrief = false, isBlind = false }: Case): Promise<BacktestReport> {
  const records = await recordsOf(await routesConfig(before), requests, { isBrief })
  const old = isBlind ? null : await routesConfig(before)
  return backtest({ records, before: old, after: await routesConfig(after) })
}

function told({ flips, unknowns }: BacktestReport): string[] {
  return [
    ...flips.map(({ kind, cause, count }) => `${count} ${kind}: ${cause}`),
    ...unknowns.map(({ cause, count }) => `${count} unknown: ${cause}`),
  ]
}

const allow = (rule: string): string => `[{ name: all, policies: { authorization: { rules: [${rule}] } }, ${TO_A} }]`
const OPEN = `[{ name: all, ${TO_A} }]`

test('the same config decides every record alike', async () => {
  const report = await compare({ before: OPEN, after: OPEN, requests: [{}, { target: '/x?y=1' }] })
  assert.deepEqual([report.records, report.same, report.flipped, report.unknown], [2, 2, 0, 0])
})

test('requests that a new rule denies are grouped, with an example and the location of the rule', async () => {
  const after = allow(`{ deny: 'request.path.startsWith("/admin")' }`)
  const requests = [{ target: '/admin/1' }, { target: '/open' }, { target: '/admin/2' }]
  for (const isBrief of [false, true]) {
    for (const isBlind of [false, true]) {
      const report = await compare({ before: OPEN, after, requests, isBrief, isBlind })
      assert.deepEqual(told(report), ['2 newly-denied: 403 by authorization (authorization_denied) on route all'])
      const [group] = report.flips
      assert.deepEqual([group?.example.path, group?.example.before], ['/admin/1', 'passed to a on route all'])
      const at = group?.decidedAt ?? null
      assert.ok(at !== null && 'file' in at)
      assert.deepEqual([at.file, at.line], ['gateway.yaml', 2])
    }
  }
})

test('requests that are admitted now are those that were denied', async () => {
  const before = allow(`{ deny: 'request.path.startsWith("/admin")' }`)
  const report = await compare({ before, after: OPEN, requests: [{ target: '/admin/1' }, {}] })
  assert.deepEqual(told(report), [
    '1 newly-admitted: no longer 403 by authorization (authorization_denied) on route all',
  ])
})

test('a rule over a header makes records without headers unknown, and counts those with headers', async () => {
  const after = allow(`{ deny: 'request.headers["x-team"] == "guests"' }`)
  const requests = [{ headers: [['x-team', 'guests'] as const] }, { headers: [['x-team', 'staff'] as const] }]
  const whole = await compare({ before: OPEN, after, requests })
  assert.deepEqual([whole.counts['newly-denied'], whole.same, whole.unknown], [1, 1, 0])
  const brief = await compare({ before: OPEN, after, requests, isBrief: true })
  assert.deepEqual(told(brief), ['2 unknown: the header x-team is not recorded'])
})

test('routes, backends, paths and headers that change are told apart', async () => {
  const headers = 'headerModifiers: { request: { set: [{ name: x-tier, value: gold }] } }'
  const after = `[
    { name: docs, matches: [{ path: { pathPrefix: /docs } }], ${TO_A} },
    { name: moved, matches: [{ path: { pathPrefix: /b } }], policies: { urlRewrite: { path: { prefix: /c } } }, ${TO_B} },
    { name: all, policies: { ${headers} }, ${TO_A} }]`
  const before = `[{ name: moved, matches: [{ path: { pathPrefix: /b } }], ${TO_A} }, { name: all, ${TO_A} }]`
  const requests = [{ target: '/docs/1' }, { target: '/b/1' }, { target: '/z' }]
  const report = await compare({ before, after, requests, isBrief: true })
  assert.deepEqual(told(report), [
    '1 route-moved: route all → docs',
    '1 backend-moved: backend a → b on route moved',
    '1 path-changed: the path to the backend changes on route moved',
    '1 headers-changed: x-tier added on route all',
  ])
})

test('a backend that chance chose is no flip while chance can choose it', async () => {
  const both = `[{ name: all, backends: [{ backend: a }, { backend: b }] }]`
  const after = both.replace('name: all', 'name: all, policies: { timeouts: { request: 9s } }')
  const requests = Array.from({ length: 20 }, () => ({}))
  assert.deepEqual(told(await compare({ before: both, after, requests })), [])
  const gone = await compare({ before: both, after: `[{ name: all, ${TO_A} }]`, requests })
  const [group] = gone.flips
  assert.equal(group?.cause, 'backend b → a on route all')
  assert.ok(group !== undefined && group.count > 2 && group.count < 18)
})

test('limits are counted in the order of the records', async () => {
  const limited = `[{ name: all, policies: { rateLimit: { local: [{ requests: 3, unit: Minutes }] } }, ${TO_A} }]`
  const requests = Array.from({ length: 5 }, () => ({}))
  const report = await compare({ before: OPEN, after: limited, requests, isBrief: true })
  assert.deepEqual(told(report), ['2 newly-limited: 429 by rateLimit (rate_limited) on route all'])
  assert.ok(report.remarks.some((remark) => remark.includes('count from the first record')))
})

test('a port that closes denies its requests', async () => {
  const old = await routesConfig(OPEN)
  const records = await recordsOf(old, [{}])
  const { ir } = await routesConfig(OPEN)
  const moved = structuredClone(ir)
  for (const bind of moved.binds) bind.port = 9090
  const report = await backtest({ records, before: null, after: { ir: moved } })
  assert.deepEqual(told(report), ['1 newly-denied: port 8080 is closed'])
})
