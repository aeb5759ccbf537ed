import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import type { Explanation, RequestSummary } from '@portico/gateway/admin-api'
import { printExplanation } from '../requests/print-explanation.ts'
import { TopTable } from '../requests/top-table.ts'
import { listOf, podOf, PODS, useFakeCluster } from '../testing/fake-cluster.ts'
import { useServer } from '../testing/fake-gateway.ts'
import { runProgram, startProgram } from '../testing/program.ts'
import { noTerminal, useTerminal } from '../testing/terminal.ts'

const summary = {
  id: 'aaaaaaaaaaaaaa1',
  at: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  took: 1500,
  method: 'GET',
  host: 'shop.example',
  path: '/orders',
  status: 429,
  outcome: 'limited',
  route: 'orders',
  backend: null,
  error: 'rate limit exceeded',
  mcp: null,
  llm: null,
  reason: {
    kind: 'RateLimit',
    policy: 'rateLimit',
    phase: 'route',
    code: 'rate_limited',
    values: { limit: '1/Minutes' },
  },
} as unknown as RequestSummary

const explanation: Explanation = {
  id: summary.id,
  status: 429,
  outcome: 'limited',
  code: 'request_limit',
  headline: 'the limit 1/Minutes is used up: requests pass again in 41 s',
  decidedBy: {
    policy: 'rateLimit',
    phase: 'route',
    origin: 'inline in rule orders',
    place: { file: 'gateway.yaml', line: 41, column: 9 },
  },
  config: { generation: 7, live: 8, isExact: false },
  values: [
    { name: 'limit', value: '1/Minutes', state: 'found' },
    { name: 'key', value: null, state: 'hidden' },
  ],
  rules: [],
  candidates: [{ route: 'other', match: 0, lacks: ['method POST'], place: null }],
  spending: {
    counts: 'requests',
    from: summary.at - 19_000,
    total: 1,
    requests: 1,
    isWhole: false,
    usedUpBy: null,
    latest: [{ id: 'aaaaaaaaaaaaaa0', at: summary.at - 10_000, key: 'team-a', cost: 1 }],
  },
  calls: [{ target: '127.0.0.1:9', status: null, error: 'connect_failed: refused', tookMs: 3 }],
  wouldPass: [
    {
      text: '`requests` is more than 1.',
      changes: [
        {
          by: 'config',
          text: '`requests` is more than 1',
          of: 'requests',
          found: 1,
          relation: 'greater',
          value: 1,
          example: null,
          place: { kind: 'GwPolicy', namespace: 'shop', name: 'limits', path: 'spec.traffic' },
        },
      ],
    },
  ],
  steps: [{ step: 'rateLimit', phase: 'route', outcome: 'stopped' }],
  remarks: [],
}

describe('recorded requests', () => {
  test('are listed, the newest of all gateways first, filtered by the gateway', async (t) => {
    const asked: string[] = []
    const port = await useServer(t, (request, response) => {
      asked.push(request.url ?? '')
      answer(response, { requests: [summary], next: null })
    })
    const table = await runProgram(['requests', '--local', '--admin', `127.0.0.1:${port}`, '--status', '4xx'])
    assert.equal(table.code, 0, table.stderr)
    assert.deepEqual(asked, ['/api/requests?limit=50&status=4xx'])
    const [head = '', line = ''] = table.stdout.split('\n')
    assert.match(head, /^TIME +ID +STATUS/)
    assert.match(line, /^03:04:05\.678 +aaaaaaaaaaaaaa1 +429 +limited +1\.5 ms +GET +shop\.example\/orders +orders +-/)
    assert.match(line, /rateLimit: rate_limited \(1\/Minutes\)$/)
    const json = await runProgram(['requests', '--local', '--admin', `127.0.0.1:${port}`, '-o', 'json'])
    assert.deepEqual(JSON.parse(json.stdout), summary)
  })

  test('are explained, with locations', async (t) => {
    const port = await useServer(t, (request, response) => {
      if (request.url === `/api/requests/${summary.id}/explain`) return answer(response, explanation)
      response.writeHead(404).end('no record x: it was never there\n')
    })
    const admin = ['--local', '--admin', `127.0.0.1:${port}`]
    const shown = await runProgram(['explain', summary.id, ...admin])
    assert.equal(shown.code, 0, shown.stderr)
    assert.equal(shown.stdout, printExplanation(explanation))
    assert.match(
      shown.stdout,
      /decided by rateLimit, config 7, which is no longer stored \(8 is live\) ▸ gateway\.yaml:41:9/,
    )
    assert.match(shown.stdout, /key = \(hidden\)/)
    assert.match(shown.stdout, /^spent:\n {2}at least 1 requests\n {2}aaaaaaaaaaaaaa0 {2}03:03:55\.678 {2}team-a$/m)
    assert.match(shown.stdout, /`requests` is more than 1\. {2}\(GwPolicy shop\/limits spec\.traffic\)/)
    const json = await runProgram(['explain', summary.id, ...admin, '-o', 'json'])
    assert.deepEqual(JSON.parse(json.stdout), explanation)
    const missing = await runProgram(['explain', 'other', ...admin])
    assert.deepEqual([missing.code, missing.stderr], [1, 'porticoctl: no record x: it was never there\n'])
  })

  test('from all Pods of a Gateway are one list, and the Pod that has a record explains it', async (t) => {
    const other = { ...summary, id: 'bbbbbbbbbbbbbb2', at: summary.at + 1000 }
    const pod = (own: RequestSummary) =>
      useServer(t, (request, response) => {
        if (request.url?.startsWith('/api/requests?') === true) return answer(response, { requests: [own], next: null })
        if (request.url === `/api/requests/${own.id}/explain`) return answer(response, { ...explanation, id: own.id })
        response.writeHead(404).end('no record x: it was never there\n')
      })
    const [first, second] = [await pod(summary), await pod(other)]
    const cluster = await useFakeCluster(t, {
      objects: { [PODS]: listOf(podOf('web-1'), podOf('web-2')) },
      ports: { 'web-1:15000': first, 'web-2:15000': second },
    })
    const place = ['gateway/web', '--kubeconfig', cluster.kubeconfig, '-o', 'json']
    const listed = await runProgram(['requests', ...place])
    assert.equal(listed.code, 0, listed.stderr)
    const ids = listed.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as RequestSummary).id)
    assert.deepEqual(ids, [other.id, summary.id])
    for (const id of ids) {
      const shown = await runProgram(['explain', id, ...place])
      assert.equal(shown.code, 0, shown.stderr)
      assert.equal((JSON.parse(shown.stdout) as Explanation).id, id)
    }
  })

  test('are followed until the gateway stops', async (t) => {
    const port = await useServer(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`: ready\n\ndata: ${JSON.stringify({ requests: [summary], omitted: 3 })}\n\n`)
    })
    const admin = ['--local', '--admin', `127.0.0.1:${port}`]
    const { code, stdout, stderr } = await runProgram(['requests', '--follow', ...admin, '-o', 'json'])
    assert.deepEqual([code, JSON.parse(stdout)], [1, summary])
    assert.match(stderr, /^… 3 more\n.*ended the stream: did the gateway stop\?\n$/)
  })

  test('are followed until the reader closes the pipe', async (t) => {
    const port = await useStream(t, summary)
    const admin = ['--local', '--admin', `127.0.0.1:${port}`]
    for (const args of [
      ['requests', '--follow', ...admin],
      ['requests', '--follow', '-o', 'json', ...admin],
      ['top', '--window', '1', ...admin],
    ]) {
      const program = startProgram(args)
      await once(program.child.stdout!, 'data')
      program.child.stdout!.destroy()
      const { code, stderr } = await program.ended
      assert.deepEqual([code, stderr], [0, ''], args.join(' '))
    }
  })

  test('invalid arguments are reported', async () => {
    for (const args of [
      ['explain', '--local'],
      ['explain', 'UPPER', '--local'],
      ['explain', 'abc'],
      ['explain', 'abc', '--local', '-o', 'xml'],
      ['requests', '--local', '--limit', '0'],
      ['requests', 'get', '--local'],
      ['top', '--local', '--window', '0'],
    ]) {
      const { code, stderr } = await runProgram(args)
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, /--help shows how/)
    }
  })
})

describe('the table of routes', () => {
  test('counts what came within the window, the busiest route first', () => {
    let now = 0
    const table = new TopTable(10_000, () => now)
    table.take([{ ...summary, route: 'old' }], 0)
    now = 20_000
    const passed = { ...summary, outcome: 'passed', reason: null, route: 'busy' } as RequestSummary
    table.take([passed, passed, { ...passed, took: 90_000 }, summary], 5)
    const [head = '', busy = '', orders = '', omitted = '', ...rest] = table.lines()
    assert.match(head, /^ROUTE +REQ\/S/)
    assert.match(busy, /^busy +0\.3 +0 +0 +1\.5 ms +90 ms$/)
    assert.match(orders, /^orders +0\.1 +1 +0 .*rateLimit: rate_limited$/)
    assert.match(omitted, /^5 requests are missing/)
    assert.deepEqual(rest, [])
  })
})

describe('top on a terminal', { skip: noTerminal }, () => {
  test('is redrawn in place, fits the terminal, and ends when interrupted', async (t) => {
    const long = { ...summary, route: 'orders-'.repeat(10), reason: { ...summary.reason!, code: 'x'.repeat(300) } }
    const port = await useStream(t, summary, long)
    const args = ['top', '--local', '--admin', `127.0.0.1:${port}`]
    const terminal = await useTerminal(t, args, { columns: 100, rows: 12 })
    await terminal.shows(/^orders +[1-9][0-9]*\.\d/m)
    const first = await terminal.shows(/^orders-orders-/m)
    // The rate rises during the first window, so the table is redrawn.
    const again = await terminal.shows(new RegExp(`^(?!.*${lineOf(first, 'orders ')})orders +`, 'm'))
    for (const screen of [first, again]) {
      const lines = screen.trimEnd().split('\n')
      assert.equal(lines.filter((line) => line.startsWith('ROUTE')).length, 1, screen)
      assert.equal(lines.length, 3, screen)
      assert.ok(lines.every((line) => line.length <= 100))
    }
    await terminal.resize(60, 12)
    await terminal.shows(/^orders-orders-[^\n]{1,46}$/m)
    await terminal.press('C-c')
    await terminal.shows(/\[exit 130\]/)
  })
})

function lineOf(screen: string, start: string): string {
  const line = screen.split('\n').find((each) => each.startsWith(start)) ?? ''
  return line.trimEnd().replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** A gateway that streams these requests ten times a second. */
async function useStream(t: TestContext, ...requests: RequestSummary[]): Promise<number> {
  return useServer(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const tell = (): void => void response.write(`data: ${JSON.stringify({ requests, omitted: 0 })}\n\n`)
    const timer = setInterval(tell, 100)
    response.on('close', () => clearInterval(timer))
    tell()
  })
}

function answer(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
