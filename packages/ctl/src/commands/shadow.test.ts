import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RequestSummary } from '@portico/gateway/admin-api'
import { useServer } from '../testing/fake-gateway.ts'
import { runProgram } from '../testing/program.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)

/** Returns the summary of a request with one shadow policy. */
function request(id: number, route: string | null, policy: string, outcome: string, text: string): RequestSummary {
  const shadow = { policy, outcome, status: null, code: null, text, values: {} }
  const summary = { id: `id${id}`, at: AT + id * 1000, method: 'GET', path: `/${id}`, route, shadows: [shadow] }
  return summary as unknown as RequestSummary
}

const PAGES = [
  [
    request(5, 'orders', 'authorization', 'denied', 'would have denied, rule 2'),
    request(4, 'orders', 'authorization', 'denied', 'would have denied, rule 1'),
    request(3, 'orders', 'authorization', 'denied', 'would have denied, rule 1'),
  ],
  [
    request(2, null, 'authorization', 'allowed', 'would have allowed'),
    request(1, 'orders', 'rateLimit', 'error', 'failed with status 500'),
  ],
]

async function useRecords(t: Parameters<typeof useServer>[0]) {
  const asked: URLSearchParams[] = []
  const port = await useServer(t, (message, response) => {
    const { searchParams } = new URL(message.url ?? '', 'http://admin')
    asked.push(searchParams)
    const index = Number(searchParams.get('before') ?? 0)
    const next = index + 1 < PAGES.length ? String(index + 1) : null
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ requests: PAGES[index], next }))
  })
  const run = (...args: string[]) => runProgram(['shadow', '--local', '--admin', `127.0.0.1:${port}`, ...args])
  return { asked, run }
}

describe('porticoctl shadow', () => {
  test('adds up the records of all pages by outcome, policy and route', async (t) => {
    const { asked, run } = await useRecords(t)
    const { code, stdout, stderr } = await run()
    assert.equal(code, 0, stderr)
    assert.deepEqual(stdout.split('\n'), [
      '5 recorded requests from 2026-01-02 03:04:06 to 2026-01-02 03:04:10',
      'OUTCOME  POLICY         ROUTE    COUNT  EXAMPLE  MOST FREQUENT CAUSE',
      'denied   authorization  orders   3      id5      would have denied, rule 1',
      'error    rateLimit      orders   1      id1      failed with status 500',
      'allowed  authorization  unknown  1      id2      would have allowed',
      '',
    ])
    assert.equal(asked[0]?.get('shadow'), 'denied,error,unknown,allowed')
    assert.equal(asked[0]?.get('since'), '1h')
    assert.equal(asked.length, 2)
  })

  test('prints JSON, for one policy and route', async (t) => {
    const { asked, run } = await useRecords(t)
    const { stdout } = await run('-o', 'json', '--policy', 'authorization', '--outcome', 'denied', '--route', 'orders')
    const { requests, rows } = JSON.parse(stdout) as { requests: number; rows: { causes: unknown; example: object }[] }
    assert.equal(requests, 3)
    assert.equal(rows.length, 1)
    assert.deepEqual(rows[0]?.causes, [
      { text: 'would have denied, rule 1', count: 2 },
      { text: 'would have denied, rule 2', count: 1 },
    ])
    assert.deepEqual(rows[0]?.example, { id: 'id5', at: AT + 5000, method: 'GET', path: '/5' })
    assert.deepEqual([asked[0]?.get('shadow'), asked[0]?.get('route')], ['denied', 'orders'])
  })

  test('says that there are no such records', async (t) => {
    const { run } = await useRecords(t)
    const { code, stdout } = await run('--policy', 'csrf', '--last', '15m')
    assert.equal(code, 0)
    assert.match(stdout, /^no request of the last 15m met such a shadow/)
  })

  test('refuses what it does not know', async () => {
    for (const [args, expected] of [
      [['--local', '--last', 'soon'], /found --last "soon"/],
      [['--local', '--outcome', 'passed'], /found --outcome "passed", expected denied, error, unknown, allowed/],
      [['--local', '-o', 'xml'], /found output "xml"/],
      [[], /gateway/],
    ] as const) {
      const { code, stderr } = await runProgram(['shadow', ...args])
      assert.equal(code, 2)
      assert.match(stderr, expected)
    }
  })
})
