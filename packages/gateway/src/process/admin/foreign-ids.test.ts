import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { RequestList, RequestSummary } from '../../telemetry/recorder/record.ts'
import { request } from '../../testing/client.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../../testing/process.ts'

/** Ids that others have given to requests, as the admin API finds them. */

test('requests are found by the id that a trusted peer gave them, all of those that share it', async (t) => {
  const program = await useTrusting(t, '127.0.0.0/8')
  for (const [path, id] of [
    ['/one', 'shared'],
    ['/two', 'other'],
    ['/three', 'shared'],
    ['/four', ''],
  ] as const)
    await request(program.port(), { path, headers: id === '' ? {} : { 'x-request-id': id } })
  await eventually('all are recorded', async () => (await found(program, '')).length === 4)
  assert.deepEqual(pathsOf(await byId(program, 'shared')), ['/three', '/one'])
  assert.deepEqual(pathsOf(await byId(program, 'shared', 'other')), ['/three', '/two', '/one'])
  assert.deepEqual(pathsOf(await found(program, 'id=shared,other&limit=2')), ['/three', '/two'])
  assert.deepEqual(pathsOf(await found(program, 'id=shared&status=404')), [])
  assert.deepEqual(await byId(program, 'Shared'), [])
  assert.deepEqual(await byId(program, ''), [])
  const [latest] = await byId(program, 'shared')
  assert.equal(latest?.requestId, 'shared')
  // The record has a name of its own, by which it is found alone.
  assert.deepEqual(pathsOf(await byId(program, latest?.id ?? '')), ['/three'])
  assert.equal((await fetch(`${program.admin}/api/requests/shared`)).status, 404)
  const lines = (await (await fetch(`${program.admin}/api/requests/download?id=shared`)).text()).trim().split('\n')
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as RequestSummary).path),
    ['/three', '/one'],
  )
})

test('they go by ids with any letter that is usual, and by long ones', async (t) => {
  const program = await useTrusting(t, '127.0.0.0/8')
  const usual = ['a+b/c=', 'Root=1-67891233-abcdef012345678912345678', 'user@host:42', '_', '..', 'x'.repeat(128)]
  for (const id of usual) await request(program.port(), { headers: { 'x-request-id': id } })
  await eventually('all are recorded', async () => (await found(program, '')).length === usual.length)
  for (const id of usual)
    assert.deepEqual(
      (await byId(program, id)).map(({ requestId }) => requestId),
      [id],
    )
})

test('an ID with characters that are unsafe in logs is ignored, and a search for it finds nothing', async (t) => {
  const program = await useTrusting(t, '127.0.0.0/8')
  const odd = ['x'.repeat(129), 'a,b', 'a b', '"a"', 'a;b', '<script>', 'é', '%41', "a' OR 1=1", 'a\tb', '${jndi:x}']
  for (const id of odd) await request(program.port(), { headers: { 'x-request-id': id } })
  await eventually('all are recorded', async () => (await found(program, '')).length === odd.length)
  for (const each of await found(program, '')) assert.equal(each.requestId, null)
  for (const id of [...odd, 'x'.repeat(8000), '\0', '\r\nx: y']) assert.deepEqual(await byId(program, id), [], id)
  // Twice in one request, neither counts.
  await fetch(`http://127.0.0.1:${program.port()}/twice`, {
    headers: [
      ['x-request-id', 'one'],
      ['X-Request-Id', 'two'],
    ],
  })
  await eventually('it is recorded', async () => (await found(program, '')).length === odd.length + 1)
  assert.deepEqual([await byId(program, 'one'), await byId(program, 'two')], [[], []])
})

test('the tail tells of the id that is waited for, and of no other', async (t) => {
  const program = await useTrusting(t, '127.0.0.0/8')
  const stop = new AbortController()
  t.after(() => stop.abort())
  const url = `${program.admin}/api/requests/stream?id=${encodeURIComponent('a+b/c=')}`
  const response = await fetch(url, { signal: stop.signal })
  let told = ''
  const reading = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) told += chunk
  })().catch(() => {})
  await eventually('it is ready', () => told.includes(': ready'))
  for (const id of ['a b/c=', 'a+b/c=', 'other']) await request(program.port(), { headers: { 'x-request-id': id } })
  await eventually('it is told', () => told.includes('"requestId":"a+b/c="'))
  stop.abort()
  await reading
  assert.equal(told.match(/"requestId":/g)?.length, 1)
})

test('an id of who is not trusted is nobody’s', async (t) => {
  const program = await useTrusting(t, '192.0.2.0/24')
  await request(program.port(), { headers: { 'x-request-id': 'forged' } })
  await eventually('it is recorded', async () => (await found(program, '')).length === 1)
  assert.deepEqual(await byId(program, 'forged'), [])
})

async function useTrusting(t: TestContext, proxies: string): Promise<Program> {
  const { file } = useConfigFile(t, {
    config: { workers: 1 },
    frontend: { forwardedHeaders: { trustedProxies: [proxies] } },
    binds: [{ port: 0, listeners: [{ routes: [{ policies: { directResponse: { status: 200 } } }] }] }],
  })
  return useProgram(t, { args: ['-f', file] })
}

async function found({ admin }: Program, query: string): Promise<readonly RequestSummary[]> {
  const answer = await fetch(`${admin}/api/requests?${query}`)
  assert.equal(answer.status, 200, query)
  return ((await answer.json()) as RequestList).requests
}

function byId(program: Program, ...ids: string[]): Promise<readonly RequestSummary[]> {
  return found(program, String(new URLSearchParams(ids.map((id) => ['id', id]))))
}

function pathsOf(requests: readonly RequestSummary[]): (string | null)[] {
  return requests.map(({ path }) => path)
}
