import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { UsageReport } from '@portico/gateway/admin-api'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand } from '../testing/program.ts'

const counts = {
  ...{ calls: 2, unpricedCalls: 0, estimatedCalls: 1, cachedCalls: 1, inputTokens: 1_000, outputTokens: 20 },
  ...{ cacheReadTokens: 3, cacheWriteTokens: 0, reasoningTokens: 4, savedUsd: '0.25' },
}
const report: UsageReport = {
  by: ['key', 'model'],
  since: 0,
  until: 1,
  groups: [
    { group: { key: 'support "bot", 1', model: 'gpt-5.5' }, ...counts, costUsd: '12.000000001' },
    { group: { key: '', model: 'm' }, ...counts, unpricedCalls: 2, costUsd: null },
  ],
  isCut: false,
}

async function useAdmin(t: TestContext, status: number, body: string) {
  const paths: (string | undefined)[] = []
  const port = await useServer(t, (request, response) => {
    paths.push(request.url)
    response.statusCode = status
    response.end(body)
  })
  return { paths, run: (...args: string[]) => runCommand(['usage', '--admin', `127.0.0.1:${port}`, ...args]) }
}

describe('porticoctl usage', () => {
  test('prints a table, with unknown costs apart', async (t) => {
    const { paths, run } = await useAdmin(t, 200, JSON.stringify(report))
    const { code, stdout } = await run('--by', 'key,model', '--since', '30d')
    assert.equal(code, 0)
    assert.deepEqual(paths, ['/api/usage?by=key%2Cmodel&since=30d'])
    assert.deepEqual(
      stdout.split('\n').map((line) => line.trim().split(/ {2,}/)),
      [
        [
          'KEY',
          'MODEL',
          'CALLS',
          'UNPRICED',
          'ESTIMATED',
          'CACHED',
          'INPUT',
          'CACHEREAD',
          'CACHEWRITE',
          'OUTPUT',
          'REASONING',
          'USD',
          'SAVEDUSD',
        ],
        ['support "bot", 1', 'gpt-5.5', '2', '0', '1', '1', '1000', '3', '0', '20', '4', '12.000000001', '0.25'],
        ['-', 'm', '2', '2', '1', '1', '1000', '3', '0', '20', '4', '-', '0.25'],
        [''],
      ],
    )
  })

  test('prints CSV and JSON', async (t) => {
    const { run } = await useAdmin(t, 200, JSON.stringify(report))
    assert.equal(
      (await run('-o', 'csv')).stdout,
      `key,model,calls,unpriced,estimated,cached,input,cacheRead,cacheWrite,output,reasoning,usd,savedUsd
"support ""bot"", 1",gpt-5.5,2,0,1,1,1000,3,0,20,4,12.000000001,0.25
,m,2,2,1,1,1000,3,0,20,4,,0.25
`,
    )
    assert.deepEqual(JSON.parse((await run('-o', 'json')).stdout), report)
  })

  test('says why the ledger cannot be read', async (t) => {
    const none = await useAdmin(t, 404, 'the gateway has no ledger: set config.ledger and config.stateDir\n')
    const { code, stderr } = await none.run()
    assert.equal(code, 1)
    assert.match(stderr, /the gateway has no ledger: set config\.ledger/)
    const other = await useAdmin(t, 404, 'not found\n')
    assert.doesNotMatch((await other.run()).stderr, /ledger/)
    const damaged = await useAdmin(t, 503, 'the ledger cannot be read: file is not a database\n')
    assert.match((await damaged.run()).stderr, /: the ledger cannot be read: file is not a database\n/)
  })

  test('rejects bad usage', async () => {
    for (const args of [['-o', 'xml'], ['extra'], ['--admin', 'x']]) {
      assert.equal((await runCommand(['usage', ...args])).code, 2, args.join(' '))
    }
  })
})
