import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand } from '../testing/program.ts'

const HEAD = 'usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,cost_type'
const COUNTS = {
  ...{ calls: 1, unpricedCalls: 0, estimatedCalls: 0, inputTokens: 1, outputTokens: 1 },
  ...{ cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
}
const group = (day: string, model: string, costUsd: string) => ({
  ...COUNTS,
  group: { day, provider: 'anthropic', model },
  costUsd,
})

async function useLedger(t: TestContext, csv: string, groups: readonly object[], status = 200) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'invoice.csv')
  writeFileSync(file, csv)
  const paths: (string | undefined)[] = []
  const port = await useServer(t, (request, response) => {
    paths.push(request.url)
    response.statusCode = status
    response.end(status === 200 ? JSON.stringify({ by: [], since: 0, until: 1, groups, isCut: false }) : 'no ledger\n')
  })
  const admin = ['--admin', `127.0.0.1:${port}`]
  return {
    paths,
    file,
    run: (...args: string[]) => runCommand(['usage', 'reconcile', '--invoice', file, ...admin, ...args]),
  }
}

const CSV = `${HEAD}
2026-11-16,Claude Opus 5,w,k,m,c,output,1.50,token
2026-11-17,Claude Opus 5,w,k,m,c,output,2.50,token
`

describe('porticoctl usage reconcile', () => {
  test('asks for the days of the invoice, and prints what differs', async (t) => {
    const groups = [group('2026-11-16', 'claude-opus-5', '1.50'), group('2026-11-17', 'claude-opus-5', '2.00')]
    const { paths, run } = await useLedger(t, CSV, groups)
    const table = await run()
    assert.equal(table.code, 3, table.stderr)
    const query = new URLSearchParams(paths[0]?.split('?')[1])
    assert.deepEqual(Object.fromEntries(query), {
      ...{ by: 'day,provider,model', since: '2026-11-16T00:00:00.000Z', until: '2026-11-18T00:00:00.000Z' },
    })
    assert.deepEqual(
      table.stdout.split('\n').map((line) => line.trim().split(/ {2,}/)),
      [
        ['costs of Anthropic, 2026-11-16 to 2026-11-17: 1 differences'],
        ['DAY', 'MODEL', 'MEASURE', 'INVOICE', 'LEDGER', 'DIFFERENCE', 'UNPRICED'],
        ['2026-11-17', 'Claude Opus 5', 'usd', '2.50', '2.00', '-0.50', '0'],
        ['total', '-', 'usd', '4.00', '3.50', '-0.50', '0'],
        [''],
      ],
    )
    assert.equal(
      (await run('-o', 'csv')).stdout,
      `day,model,measure,invoice,ledger,difference,unpriced
2026-11-17,Claude Opus 5,usd,2.50,2.00,-0.50,0
total,,usd,4.00,3.50,-0.50,0
`,
    )
    const { differences, totals, provider } = JSON.parse((await run('-o', 'json')).stdout) as Record<string, unknown>
    const usd = { measure: 'usd', unpricedCalls: 0, difference: '-0.50' }
    assert.deepEqual(differences, [
      { day: '2026-11-17', model: 'Claude Opus 5', ...usd, invoice: '2.50', ledger: '2.00' },
    ])
    assert.deepEqual([provider, totals], ['anthropic', [{ ...usd, invoice: '4.00', ledger: '3.50' }]])
    assert.equal((await run('--tolerance', '20')).code, 0)
  })

  test('succeeds when nothing differs', async (t) => {
    const groups = [group('2026-11-16', 'claude-opus-5', '1.50'), group('2026-11-17', 'claude-opus-5', '2.500001')]
    const { run } = await useLedger(t, CSV, groups)
    const { code, stdout } = await run()
    assert.equal(code, 0)
    assert.match(stdout, /: 0 differences/)
  })

  test('says why the invoice or the ledger cannot be read', async (t) => {
    const wrong = await useLedger(t, `${HEAD}\n2026-11-17,m\n`, [])
    const { code, stderr } = await wrong.run()
    assert.equal(code, 1)
    assert.match(stderr, /invoice\.csv: line 2: found 2 fields, expected 9/)
    assert.deepEqual(wrong.paths, [])
    const none = await useLedger(t, HEAD, [])
    assert.match((await none.run()).stderr, /the export has no usage/)
    rmSync(none.file)
    assert.match((await none.run()).stderr, /ENOENT/)
    const broken = await useLedger(t, CSV, [], 503)
    assert.match((await broken.run()).stderr, /no ledger/)
  })

  test('rejects bad usage', async () => {
    for (const args of [
      ['reconcile'],
      ['--invoice', 'a.csv'],
      ['compare'],
      ['reconcile', '--invoice', 'a', '--tolerance', 'x'],
    ]) {
      const { code, stderr } = await runCommand(['usage', ...args])
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, /porticoctl usage: /)
    }
  })
})
