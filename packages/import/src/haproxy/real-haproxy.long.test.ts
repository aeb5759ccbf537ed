import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { closedPort } from '../../../gateway/src/testing/scene.ts'
import { outcomeOf, type SentRequest, useImported, useOrigins, useProgram } from '../testing/real-gateway.ts'
import { importHaproxy } from './import-haproxy.ts'

const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0

const pathTests = fc.oneof(
  fc.constantFrom('/a', '/a/b', '/api/v1', '/x.css').map((path) => `path ${path}`),
  fc.constantFrom('/a', '/a/', '/api', '/api/v', '/A').map((path) => `path_beg ${path}`),
  fc.constantFrom('/a', '/api').map((path) => `path_beg -i ${path}`),
  fc.constantFrom('.css', '/end', 'b').map((text) => `path_end ${text}`),
  fc.constantFrom('b', 'img').map((text) => `path_dir ${text}`),
  fc.constantFrom('/b', 'pi').map((text) => `path_sub ${text}`),
  fc.constantFrom('^/api/v[0-9]+', '/end$', 'a.*b').map((regex) => `path_reg ${regex}`),
)
const hostTests = fc.oneof(
  fc.constantFrom('a.test', 'b.test').map((host) => `hdr(host) -i ${host}`),
  fc.constantFrom('.a.test', '.test').map((host) => `hdr_end(host) -i ${host}`),
  fc.constantFrom('a', 'sub').map((text) => `hdr_beg(host) -i ${text}`),
)
const otherTests = fc.oneof(
  fc.constantFrom('GET', 'POST', 'GET POST').map((methods) => `method ${methods}`),
  fc.constantFrom('one', 'two').map((value) => `hdr(x-kind) ${value}`),
  fc.constant('hdr(x-kind) -m found'),
)
const maybe = (found: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.option(found), fc.nat(6))
    .map(([test, sign]) => (test === null ? '' : `${sign === 0 ? '!' : ''}{ ${test} }`))
const conditions = fc
  .array(
    fc.tuple(maybe(pathTests), maybe(hostTests), maybe(otherTests)).map((terms) => {
      const text = terms.filter((term) => term !== '').join(' ')
      return text === '' ? '{ path_beg /a }' : text
    }),
    { minLength: 1, maxLength: 2 },
  )
  .map((choices) => choices.join(' or '))
const rules = fc.array(fc.record({ condition: conditions, handler: fc.nat(5) }), { minLength: 1, maxLength: 6 })

const REQUESTS: SentRequest[] = ['a.test', 'sub.a.test', 'b.test', 'other.example'].flatMap((host) => [
  ...[
    '/',
    '/a',
    '/a/',
    '/a/b',
    '/ab',
    '/A',
    '/api',
    '/api/v1',
    '/api/v2/x',
    '/x.css',
    '/a/x.css',
    '/img/b',
    '/end',
    '/b?x=/a',
  ].map((path) => ({ host, path })),
  { host, path: '/a/b', method: 'POST' },
  { host, path: '/api/v1', headers: { 'x-kind': 'one' } },
  { host, path: '/', headers: { 'x-kind': 'two' }, method: 'POST' },
])

test(
  'random rules lead to the same server and status as in HAProxy',
  { skip: hasHaproxy ? false : 'haproxy is not installed' },
  async (t) => {
    const origins = await useOrigins(t, 3)
    const seed = Number(process.env.PORTICO_SEED ?? 3)
    const sample = fc.sample(rules, { numRuns: 300, seed })
    let compared = 0
    for (const [index, list] of sample.entries()) {
      const port = await closedPort()
      const lines = list.map(({ condition, handler }) =>
        handler === 3
          ? `http-request deny if ${condition}`
          : handler === 4
            ? `http-request redirect location https://moved.test/new code 301 if ${condition}`
            : `use_backend b${handler % 3} if ${condition}`,
      )
      const backends = origins.map((origin, number) => `backend b${number}\n  server s 127.0.0.1:${origin}`)
      const text = [
        ...['defaults', '  mode http', '  timeout connect 5s', '  timeout client 5s', '  timeout server 5s'],
        ...[
          'frontend web',
          `  bind 127.0.0.1:${port}`,
          ...lines.map((line) => `  ${line}`),
          '  default_backend b0',
          ...backends,
          '',
        ],
      ].join('\n')
      const result = importHaproxy([{ name: 'haproxy.cfg', text }])
      assert.ok(result.ok, result.ok ? '' : result.problem.message)
      // Configs with rules that are not carried are left out: they behave differently after the import.
      const isCarried = result.value.report.every(
        ({ verdict, name }) =>
          verdict === 'carried' ||
          (verdict === 'changed' && /timeout server|redirect/.test(name)) ||
          name.startsWith('timeout client'),
      )
      if (!isCarried || compared >= 6 * REQUESTS.length) continue
      await t.test(`rules ${index}`, async (inner) => {
        await useProgram(inner, {
          command: 'haproxy',
          args: (file) => ['-db', '-f', file],
          file: 'haproxy.cfg',
          config: text,
          port,
        })
        const imported = await useImported(inner, result.value, 'haproxy')
        for (const request of REQUESTS) {
          const [expected, actual] = [await outcomeOf(port, request), await outcomeOf(imported, request)]
          assert.deepEqual(actual, expected, `seed ${seed}, ${JSON.stringify(request)}\n${text}`)
          compared++
        }
      })
    }
    assert.ok(compared > 300, `compared ${compared} requests`)
    t.diagnostic(`compared ${compared} requests`)
  },
)
