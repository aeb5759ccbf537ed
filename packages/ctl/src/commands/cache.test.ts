import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand } from '../testing/program.ts'

/** An admin server that gives each request this answer. */
async function useAdmin(t: TestContext, status: number, answer: object | string) {
  const seen: { call: string; body: string; origin: unknown }[] = []
  const port = await useServer(t, (request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      seen.push({ call: `${request.method} ${request.url}`, body, origin: request.headers['x-portico-same-origin'] })
      response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
  })
  return { seen, run: (...args: string[]) => runCommand(['cache', ...args, '--admin', `127.0.0.1:${port}`]) }
}

const CACHE = {
  ...{ name: 'bind/8080/chat', entries: 3, bytes: 4096, maxBytes: 67_108_864, hits: 5, misses: 3, bypasses: 1 },
  ...{ savedUsd: '0.50', isShared: true, shared: { entries: 7, tenants: 2, bytes: 9000 } },
}

describe('porticoctl cache', () => {
  test('lists caches, with answers in Redis', async (t) => {
    const caches = [
      CACHE,
      { ...CACHE, name: 'own', isShared: false, shared: null },
      { ...CACHE, name: 'x', shared: null },
    ]
    const { run, seen } = await useAdmin(t, 200, { caches, silentWorkers: 1 })
    const { code, stdout, stderr } = await run('list')
    assert.equal(code, 0)
    assert.match(stdout, /^CACHE +ANSWERS +BYTES +HITS +MISSES +SAVED USD +IN REDIS\n/)
    assert.match(stdout, /bind\/8080\/chat +3 +4096 +5 +3 +0\.50 +7 \(9000 bytes\)\nown .* -\nx .* unknown\n$/)
    assert.match(stderr, /1 workers are too busy/)
    assert.deepEqual(
      seen.map(({ call }) => call),
      ['GET /api/cache'],
    )
    assert.deepEqual(JSON.parse((await run('list', '-o', 'json')).stdout), { caches, silentWorkers: 1 })
  })

  test('says so when there is no cache', async (t) => {
    const { run } = await useAdmin(t, 200, { caches: [], silentWorkers: 0 })
    const { code, stdout, stderr } = await run('list')
    assert.deepEqual([code, stdout, /no response cache/.test(stderr)], [0, '', true])
  })

  test('purges with --yes only', async (t) => {
    const { run, seen } = await useAdmin(t, 200, { purged: 3, isSharedPurged: true })
    const asked = await run('purge', '--model', 'gpt-5.5')
    assert.deepEqual([asked.code, /would purge the answers of the model gpt-5\.5/.test(asked.stderr)], [2, true])
    assert.deepEqual(seen, [])
    const purged = await run('purge', '--model', 'gpt-5.5', '--yes')
    assert.deepEqual([purged.code, purged.stderr], [0, 'purged 3 answers in memory, and those in Redis\n'])
    await run('purge', '--all', '--yes')
    await run('purge', '--api-key', 'bot', '--yes')
    await run('purge', '--cache', 'bind/8080/chat', '--yes')
    assert.deepEqual(
      seen.map(({ call, body, origin }) => [call, JSON.parse(body), origin]),
      [{ model: 'gpt-5.5' }, { all: true }, { apiKey: 'bot' }, { cache: 'bind/8080/chat' }].map((body) => [
        ...['POST /api/cache/purge', body, '1'],
      ]),
    )
  })

  test('fails when not everything was purged', async (t) => {
    const { run } = await useAdmin(t, 503, 'Redis did not confirm the purge: purge again\n')
    const { code, stderr } = await run('purge', '--all', '--yes')
    assert.deepEqual([code, /Redis did not confirm the purge/.test(stderr)], [1, true])
  })

  test('refuses other arguments', async (t) => {
    const { run, seen } = await useAdmin(t, 200, {})
    for (const args of [
      [],
      ['burn'],
      ['list', '--all'],
      ['list', 'x'],
      ['purge', '--yes'],
      ['purge', '--all', '--model', 'm', '--yes'],
      ['list', '-o', 'csv'],
    ])
      assert.equal((await run(...args)).code, 2, args.join(' '))
    assert.deepEqual(seen, [])
  })
})
