import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { BacktestAnswer, CheckedConfig } from '../../admin/config-view.ts'
import type { RequestList } from '../../telemetry/recorder/record.ts'
import { request } from '../../testing/client.ts'
import { call, check, configText, json, TOKEN, useEditable, view } from '../../testing/edits.ts'
import { eventually, type Program } from '../../testing/process.ts'

async function useRecorded(t: TestContext, text = configText()): Promise<{ program: Program; text: string }> {
  const { program } = await useEditable(t, text)
  for (const path of ['/', '/limited', '/limited', '/limited']) await request(program.port(), { path })
  await eventually('the requests are recorded', async () => (await recorded(program)) === 4)
  const { text: seen } = await view(program)
  assert.ok(seen !== null)
  return { program, text: seen }
}

async function recorded(program: Program): Promise<number> {
  return (await json<RequestList>(program, '/api/requests')).requests.length
}

function run(program: Program, body: object, init: RequestInit = {}): Promise<Response> {
  return call(program, '/api/backtest', { method: 'POST', body: JSON.stringify(body), ...init })
}

async function report(program: Program, body: object): Promise<BacktestAnswer['report']> {
  const response = await run(program, body)
  assert.equal(response.status, 200, await response.clone().text())
  return ((await response.json()) as BacktestAnswer).report
}

const DENIED = 'authorization: { rules: [{ deny: "request.path == \'/limited\'" }] }'

describe('a back-test through the admin server', () => {
  test('tells which recorded requests an edited text would deny, at the line of the edit', async (t) => {
    const { program, text } = await useRecorded(t)
    const same = await report(program, { text })
    assert.deepEqual([same.records, same.same, same.flipped, same.unknown], [4, 4, 0, 0])
    const edited = text.replace('        rateLimit:', `        ${DENIED}\n        rateLimit:`)
    const denied = await report(program, { text: edited })
    assert.deepEqual([denied.same, denied.counts], [1, { 'newly-denied': 3 }])
    const [group] = denied.flips
    assert.equal(group?.cause, '403 by authorization (authorization_denied) on route limited')
    assert.equal(group.example.path, '/limited')
    const line = edited.split('\n').findIndex((each) => each.includes(DENIED)) + 1
    const at = group.decidedAt
    assert.ok(at !== null && 'line' in at)
    assert.equal(at.line, line)
    const newest = await report(program, { text: edited, last: '5m', limit: 1 })
    assert.equal(newest.records, 1)
    assert.equal((await request(program.port(), { path: '/limited' })).status, 200, 'nothing went live')
  })

  test('locations are those of the text with redacted values, which are nowhere in the answer', async (t) => {
    const secret = 'key-of-ann-0123456789'
    const own = configText().replace(
      '    - name: limited',
      `    - { name: own, matches: [{ path: { exact: /own } }], policies: { apiKeyAuthentication: { secretRef: { data: { ann: ${secret} } } }, directResponse: { status: 200 } } }\n    - name: limited`,
    )
    const { program, text } = await useRecorded(t, own)
    assert.ok(!text.includes(secret))
    await request(program.port(), { path: '/own', headers: { authorization: `Bearer ${secret}` } })
    await eventually('the request with a key is recorded', async () => (await recorded(program)) === 5)
    const edited = text.replace('{ name: own,', '{ name: renamed,')
    const response = await run(program, { text: edited })
    const answer = await response.text()
    assert.ok(!answer.includes(secret))
    const { counts, flips } = (JSON.parse(answer) as BacktestAnswer).report
    assert.deepEqual(counts, { 'route-moved': 1 }, answer)
    const at = flips[0]?.decidedAt ?? null
    assert.ok(at !== null && 'line' in at)
    assert.equal(edited.split('\n')[at.line - 1]?.includes('name: renamed'), true)
  })

  test('a text that cannot go live is rejected with the location of each problem', async (t) => {
    const { program, text } = await useRecorded(t)
    const wrong = text.replace('port: 0', 'prot: 0')
    const response = await run(program, { text: wrong })
    assert.equal(response.status, 422)
    assert.deepEqual(((await response.json()) as CheckedConfig).problems, (await check(program, wrong)).problems)
    const refused = await run(program, { text: text.replace('workers: 1', 'workers: 2') })
    assert.deepEqual([refused.status, ((await refused.json()) as CheckedConfig).refused.length], [422, 1])
  })

  test('a request that is no back-test says what is wrong, and so does one without records', async (t) => {
    const { program } = await useEditable(t)
    const { text } = await view(program)
    for (const [body, problem] of [
      [{}, /expected `text`/],
      [{ text, last: 'yesterday' }, /expected `last`, a time such as "15m"/],
      [{ text, limit: 0 }, /expected `limit`, an integer from 1 to 20000/],
      [{ text, since: '1h' }, /unknown member "since"/],
    ] as const) {
      const response = await run(program, body)
      assert.equal(response.status, 400)
      assert.match(await response.text(), problem)
    }
    const none = await run(program, { text, last: '5m' })
    assert.equal(none.status, 409)
    assert.equal(await none.text(), 'no requests were recorded in the last 5m: a back-test of nothing proves nothing\n')
  })

  test('one runs at a time, and ends with the client that asked for it', async (t) => {
    const { program, text } = await useRecorded(t)
    const left = new AbortController()
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-portico-same-origin': '1', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ text }),
    }
    const first = fetch(`${program.admin}/api/backtest`, { ...init, signal: left.signal }).then(
      () => 'answered',
      () => 'left',
    )
    const statuses = await Promise.all([run(program, { text }), run(program, { text })])
    assert.ok(
      statuses.some(({ status }) => status === 429),
      String(statuses.map(({ status }) => status)),
    )
    left.abort()
    await first
    await eventually('the next run has its turn', async () => (await run(program, { text })).status === 200)
  })
})
