import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { UsageReport } from '../admin/usage-view.ts'
import { LlmRecord, type Pricer } from '../records/llm-record.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import { request } from '../testing/client.ts'
import type { Origin } from '../testing/origin.ts'
import { eventually, metric, type Program, runProgram, startProgram, useConfigFile } from '../testing/process.ts'
import { httpConfig, useGateway, useOrigin } from '../testing/scene.ts'
import type { LedgerEntry } from '../stores/store.ts'
import { entryOf } from '../stores/testing/store-contract.ts'
import type { Logger } from '../telemetry/log/logger.ts'
import { Collector } from '../telemetry/metrics/metrics-collect.ts'
import { entryOf as requestEntry } from './entry.ts'
import { Ledger } from './ledger.ts'
import { LedgerFeed } from './ledger-feed.ts'

/** A provider whose usage is what the prompt says: the tokens of the prompt and of the answer. */
const useProvider = (t: TestContext): Promise<Origin> =>
  useOrigin(t, (seen, response) => {
    const { model, messages } = JSON.parse(seen.body) as { model: string; messages: { content: string }[] }
    const [input = 0, output = 0] = (messages[0]?.content ?? '').split(' ').map(Number)
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
    const answer = { id: '1', object: 'chat.completion', created: 1, model, choices, usage }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })

const chat = (content: string, model = 'gpt-4o') => ({
  method: 'POST',
  path: '/v1/chat/completions',
  body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
})

const routesTo = ({ port }: Origin) =>
  httpConfig([
    {
      policies: { backend: { prices: { models: [{ model: 'gpt-4o', rates: { input: 2.5, output: 10 } }] } } },
      backends: [{ ai: { provider: { openai: {}, host: '127.0.0.1', port } } }],
    },
  ])

async function start(t: TestContext, file: string): Promise<Program> {
  const program = await startProgram({ args: ['-f', file], env: { OPENAI_API_KEY: 'k' } })
  t.after(() => program.stop())
  return program
}

async function usageOf(program: Program, query = ''): Promise<UsageReport> {
  const answer = await fetch(`${program.admin}/api/usage${query}`)
  assert.equal(answer.status, 200, await answer.clone().text())
  return (await answer.json()) as UsageReport
}

describe('the ledger', () => {
  test('has the same ids and the same costs as the records of requests', async (t) => {
    const origin = await useProvider(t)
    const entries: LedgerEntry[] = []
    let flush = (): void => {}
    const gateway = await useGateway(t, routesTo(origin), {
      ledger: (recorder, deadlines) => {
        const feed = new LedgerFeed<RequestContext>(recorder, {
          ...{ deadlines, journal: null },
          post: ({ entries: text }) => entries.push(...(JSON.parse(text) as LedgerEntry[])),
        })
        flush = () => feed.flush()
        return feed
      },
    })
    const prompts = ['1 1', '2 2', '1000 7', '3 12345', '999999 1']
    const modelOf = (prompt: string): string => (prompt === '2 2' ? 'nobody-1' : 'gpt-4o')
    for (const prompt of prompts) await request(gateway.port(), chat(prompt, modelOf(prompt)))
    // No provider is called for a request without a model.
    await request(gateway.port(), { ...chat(''), body: '{}' })
    await gateway.finished(prompts.length + 1)
    flush()
    const records = gateway.recorded().filter(({ llm }) => llm !== null && llm.attempts.length > 0)
    const costOf = (id: string): number | null => {
      const cost = records.find((record) => record.id === id)?.llm?.cost
      return cost?.kind === 'known' ? cost.nanoDollars : null
    }
    assert.equal(records.length, prompts.length)
    assert.deepEqual(
      entries.map(({ nanoDollars }) => nanoDollars),
      entries.map(({ id }) => costOf(id)),
    )
    assert.deepEqual(
      entries.map(({ basis, provenance }) => [basis, provenance !== '']),
      prompts.map((prompt) => [prompt === '2 2' ? 'unknown' : 'computed', true]),
    )
    assert.deepEqual(gateway.bugs, [])
  })

  test('counts what earlier attempts were charged, and no numbers that no call can have', () => {
    const llm = new LlmRecord()
    const cost =
      (nanoDollars: number): Pricer =>
      () => ({ kind: 'known', nanoDollars, row: 'row', table: 'table', basis: 'computed' })
    const call = { requestId: null, routeName: null, status: 200, startedAt: 0, durationMs: 1, apiKey: null }
    const entry = () => requestEntry({ ...call, llm }, { id: '1', now: 1, key: '' })
    assert.equal(entry(), null)
    llm.beginAttempt('first', 'openai', cost(3))
    llm.addAttempt()
    llm.usage = { input: 1, output: 2 }
    llm.beginAttempt('second', 'openai', cost(4))
    llm.addAttempt()
    llm.usage = { input: 1.6, output: 9e15 }
    const { nanoDollars, inputTokens, outputTokens } = entry() ?? assert.fail()
    assert.deepEqual([nanoDollars, inputTokens, outputTokens], [7, 2, null])
    llm.beginAttempt('third', 'openai', cost(9e15))
    llm.addAttempt()
    llm.usage = { input: 1 }
    const huge = entry() ?? assert.fail()
    const { basis, provenance } = huge
    const why = 'the tokens are more than a call can have'
    assert.deepEqual([huge.nanoDollars, basis, provenance], [null, 'unknown', why])
  })

  test('counts every call once over two workers, a kill and a restart', async (t) => {
    const origin = await useProvider(t)
    const config = useConfigFile(t, { ...routesTo(origin), config: { stateDir: 'state', workers: 2, ledger: {} } })
    const killed = await start(t, config.file)
    await Promise.all(Array.from({ length: 40 }, () => request(killed.port(), chat('1000 1'))))
    await eventually('all calls are stored', async () => (await usageOf(killed)).groups[0]?.calls === 40)
    const underWay = Array.from({ length: 20 }, () => request(killed.port(), chat('1000 1')).catch(() => null))
    killed.child.kill('SIGKILL')
    const answered = (await Promise.all(underWay)).filter((answer) => answer?.status === 200).length
    await killed.ended

    const second = await start(t, config.file)
    const kept = (await usageOf(second)).groups[0]?.calls ?? 0
    assert.ok(kept >= 40 && kept <= 60, `${kept} entries, ${answered} answers before the kill`)
    await Promise.all(Array.from({ length: 5 }, () => request(second.port(), chat('1 1', 'nobody-1'))))
    second.child.kill('SIGTERM')
    await second.ended

    // A drained gateway has stored everything.
    const database = new DatabaseSync(join(config.folder, 'state', 'ledger.db'), { readOnly: true })
    const rows = database.prepare('SELECT count(*) AS calls, count(DISTINCT id) AS ids FROM ledger').get()
    database.close()
    assert.deepEqual({ ...rows }, { calls: kept + 5, ids: kept + 5 })
    const third = await start(t, config.file)
    const [group] = (await usageOf(third, '?by=route&since=1d')).groups
    const nanoDollars = BigInt(kept) * 2_510_000n
    assert.deepEqual([group?.calls, group?.unpricedCalls], [kept + 5, 5])
    assert.equal(Number(group?.costUsd), Number(nanoDollars) / 1e9)
  })

  test('that is damaged is reported, and traffic goes on', async (t) => {
    const origin = await useProvider(t)
    const config = useConfigFile(t, { ...routesTo(origin), config: { stateDir: 'state', workers: 1, ledger: {} } })
    const first = await start(t, config.file)
    first.child.kill('SIGTERM')
    await first.ended
    writeFileSync(join(config.folder, 'state', 'ledger.db'), 'damaged '.repeat(1_000))
    const program = await start(t, config.file)
    await program.logged(/ledger store failed, entries are spooled.*file is not a database/)
    assert.equal((await request(program.port(), chat('1 1'))).status, 200)
    await eventually('the entry is spooled', async () => (await metric(program, 'portico_ledger_entries_total')) === 1)
    const answer = await fetch(`${program.admin}/api/usage`)
    assert.deepEqual([answer.status, await answer.text()], [503, 'the ledger cannot be read: file is not a database\n'])
    assert.match(readFileSync(join(config.folder, 'state', 'ledger.spool'), 'utf8'), /"model":"gpt-4o"/)
  })

  test('replaces a writer that died, and sends its batches again', async (t) => {
    // The writer dies while its folder cannot be created.
    const { folder } = useConfigFile(t, '')
    const obstacle = join(folder, 'obstacle')
    writeFileSync(obstacle, '')
    const errors: string[] = []
    const log = { info() {}, error: (message: string) => errors.push(message) } as unknown as Logger
    const collector = new Collector()
    const ledger = new Ledger(
      {
        ...{ folder: join(obstacle, 'state'), instance: '0'.repeat(16), settle: null },
        ...{ retentionMs: 1e13, rollupRetentionMs: 1e13, postgres: null },
      },
      collector,
      log,
    )
    t.after(() => ledger.close())
    ledger.add(JSON.stringify([entryOf('a'), entryOf('b')]), { worker: 1, batch: 1 })
    await eventually('the writer has died', () => errors.includes('ledger writer died'))
    ledger.add(JSON.stringify([entryOf('b'), entryOf('c')]), { worker: 1, batch: 2 })
    rmSync(obstacle)
    await eventually('all entries are stored', async () => {
      const result = await ledger.usage({ by: [], since: 0, until: Number.MAX_SAFE_INTEGER })
      return 'sums' in result && result.sums[0]?.calls === 3
    })
    assert.match([...collector.render()].join(''), /portico_ledger_entries_total\{outcome="stored"\} 3/)
  })

  test('needs a state folder', async (t) => {
    const origin = await useProvider(t)
    const { file } = useConfigFile(t, { ...routesTo(origin), config: { ledger: {} } })
    const { code, stderr } = await runProgram({ args: ['-f', file, '--validate-only'] })
    assert.equal(code, 2, stderr)
    assert.match(stderr, /stateDir/)
  })

  test('works as its page says', async (t) => {
    const origin = await useProvider(t)
    const page = readFileSync(new URL('../../../../docs/ledger.md', import.meta.url), 'utf8')
    const example = (/```yaml\n([^]*?)```/.exec(page)?.[1] ?? '')
      .replace('port: 8080', 'port: 0')
      .replace('openai: {}', `openai: {}, host: 127.0.0.1, port: ${origin.port}`)
    const program = await start(t, useConfigFile(t, example).file)
    await request(program.port(), chat('1000 0'))
    await eventually('the call is stored', async () => (await usageOf(program)).groups.length === 1)
    const { groups, isCut } = await usageOf(program, '?by=key,model&since=30d')
    const tokens = { inputTokens: 1_000, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
    const counts = { calls: 1, unpricedCalls: 0, estimatedCalls: 0, cachedCalls: 0, ...tokens }
    assert.deepEqual(
      [groups, isCut],
      [[{ group: { key: '', model: 'gpt-4o' }, ...counts, costUsd: '0.0025', savedUsd: '0.00' }], false],
    )
    for (const query of ['by=color', 'by=key,key', 'since=soon', 'until=x', 'of=1']) {
      assert.equal((await fetch(`${program.admin}/api/usage?${query}`)).status, 400, query)
    }
  })
})
