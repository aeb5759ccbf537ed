import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import type { UsageReport } from '../admin/usage-view.ts'
import { PostgresLedger } from '../stores/postgres/postgres-ledger.ts'
import type { PostgresSettings } from '../stores/postgres/postgres-settings.ts'
import type { LedgerEntry } from '../stores/store.ts'
import { noPostgres, PostgresServer } from '../stores/testing/postgres-server.ts'
import { entryOf } from '../stores/testing/store-contract.ts'
import { request } from '../testing/client.ts'
import { eventually, metric, type Program, useConfigFile, useProgram } from '../testing/process.ts'
import { httpConfig } from '../testing/scene.ts'
import { LedgerWriter, type WriterEvent } from './ledger-writer.ts'
import { Spool } from './spool.ts'

const ALL = { by: [], since: 0, until: Number.MAX_SAFE_INTEGER }
const batchOf = (...entries: LedgerEntry[]): string => JSON.stringify(entries)

function useFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A gateway's writer with a spool of its own. */
function useWriter(t: TestContext, settings: PostgresSettings, folder = useFolder(t)) {
  const stop = new AbortController()
  t.after(() => stop.abort())
  const events: WriterEvent[] = []
  const writer = new LedgerWriter({
    open: () => PostgresLedger.open(settings, stop.signal),
    spool: new Spool(join(folder, 'ledger.spool'), 64e6),
    ...{ retentionMs: 1e13, rollupRetentionMs: 1e13, now: Date.now },
    report: (event) => events.push(event),
    recovered() {},
  })
  /** Waits until the store is open and the spool is delivered. */
  const open = async (): Promise<void> => {
    do await writer.maintain()
    while (writer.problem !== null || !(await isOpen(writer)))
    // The spool of a store that took long to open is delivered by the next call.
    await writer.maintain()
  }
  return { writer, events, open, folder }
}

const isOpen = (writer: LedgerWriter): Promise<boolean> =>
  writer.usage(ALL).then(
    () => true,
    () => false,
  )

describe('the ledger in PostgreSQL', { skip: noPostgres }, () => {
  let server: PostgresServer
  before(async () => {
    server = await PostgresServer.create()
  })
  after(() => server.remove())

  test('has every entry once when the server is killed in the middle of writing', async (t) => {
    const settings = server.settings({ timeoutMs: 2_000 })
    const gateways = [useWriter(t, settings), useWriter(t, settings)]
    for (const { open } of gateways) await open()
    let sent = 0
    const write = async ({ writer }: (typeof gateways)[number], name: string, until: () => boolean): Promise<void> => {
      for (let i = 0; !until(); i++) {
        await writer.add(batchOf(...Array.from({ length: 50 }, (_, j) => entryOf(`${name}-${i}-${j}`))))
        sent += 50
        if (i % 5 === 4) await writer.maintain()
      }
    }
    for (let round = 0; round < 3; round++) {
      let isOver = false
      const writing = gateways.map((gateway, i) => write(gateway, `${i}-${round}`, () => isOver))
      const before = sent
      await eventually('entries were sent', () => sent > before + 500)
      await server.stop('SIGKILL')
      await eventually('entries were sent to the spool', () =>
        gateways.every(({ writer }) => writer.counts.spooled > 0),
      )
      await server.start()
      isOver = true
      await Promise.all(writing)
    }
    for (const { open } of gateways) await open()
    const [sums] = (await gateways[0]!.writer.usage(ALL)).sums
    const [rows] = await server.run(`SELECT count(*)::int AS entries FROM ${settings.schema}.ledger`)
    assert.deepEqual([sums?.calls, rows, sums?.nanoDollars], [sent, { entries: sent }, BigInt(sent) * 1_000n])
    for (const { writer, folder, events } of gateways) {
      await writer.close()
      assert.equal(existsSync(join(folder, 'ledger.spool')), false)
      assert.deepEqual(
        [...new Set(events.map(({ message }) => message))],
        ['ledger store failed, entries are spooled', 'ledger spool delivered', 'ledger store works again'],
      )
    }
  })

  test('is not needed at the start, and gets what was spooled', async (t) => {
    const settings = server.settings({ timeoutMs: 500 })
    await server.stop()
    const { writer, open, events } = useWriter(t, settings)
    await writer.maintain()
    await writer.add(batchOf(entryOf('a')))
    await assert.rejects(writer.usage(ALL), /ECONNREFUSED/)
    await server.start()
    await open()
    assert.equal((await writer.usage(ALL)).sums[0]?.calls, 1)
    assert.match(String(events[0]?.fields['error']), /^PostgreSQL at 127\.0\.0\.1:\d+: .*ECONNREFUSED/)
    await writer.close()
  })

  test('that is silent holds up entries for its time limit only, and those of a stopped gateway are spooled', async (t) => {
    const settings = server.settings({ timeoutMs: 500 })
    const { writer, open, folder } = useWriter(t, settings)
    await open()
    server.pause()
    t.after(() => server.resume())
    const startedAt = performance.now()
    await writer.add(batchOf(entryOf('a')))
    for (let i = 0; i < 5; i++) {
      await writer.maintain()
      await writer.add(batchOf(entryOf(`${i}`)))
    }
    assert.ok(performance.now() - startedAt < 20_000)
    await writer.close()
    assert.equal(readFileSync(join(folder, 'ledger.spool'), 'utf8').match(/"id"/g)?.length, 6)
    server.resume()
    const next = useWriter(t, { ...settings, timeoutMs: 10_000 }, folder)
    await next.open()
    assert.equal((await next.writer.usage(ALL)).sums[0]?.calls, 6)
    await next.writer.close()
  })

  test('is shared by gateways; requests do not notice that it is down', async (t) => {
    const schema = 'shared'
    const config = {
      ...httpConfig([{ name: 'chat', backends: [{ ai: { provider: { mock: {} } } }] }]),
      config: { stateDir: 'state', workers: 1, ledger: {}, stores: { postgres: server.config(schema) } },
    }
    const files = [useConfigFile(t, config), useConfigFile(t, config)] as const
    const start = ({ file }: (typeof files)[0]): Promise<Program> => useProgram(t, { args: ['-f', file] })
    const [one, two] = await Promise.all([start(files[0]), start(files[1])])
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    const chat = async (program: Program): Promise<void> => {
      const { status } = await request(program.port(), { method: 'POST', path: '/v1/chat/completions', body })
      assert.equal(status, 200)
    }
    const usage = async (program: Program): Promise<{ status: number; text: string }> => {
      const answer = await fetch(`${program.admin}/api/usage?by=model`)
      return { status: answer.status, text: await answer.text() }
    }
    const calls = async (program: Program): Promise<number> => {
      const { status, text } = await usage(program)
      return status === 200 ? ((JSON.parse(text) as UsageReport).groups[0]?.calls ?? 0) : -1
    }
    const problem = async (program: Program): Promise<string | null> => {
      const state = (await (await fetch(`${program.admin}/api/state`)).json()) as {
        ledgerStore: { problem: string | null }
      }
      return state.ledgerStore.problem
    }
    await Promise.all([one, two, two].map(chat))
    for (const program of [one, two])
      await eventually('both gateways see all calls', async () => (await calls(program)) === 3)
    await eventually('the store works', async () => (await metric(one, 'portico_ledger_store_up')) === 1)
    assert.equal(await problem(one), null)

    server.pause()
    for (let i = 0; i < 5; i++) await chat(one)
    await one.logged(/ledger store failed, entries are spooled.*took longer than 3000 ms/)
    await eventually('the state says why', async () => ((await problem(one)) ?? '').includes('took longer than'))
    assert.equal(await metric(one, 'portico_ledger_store_up'), 0)
    assert.match((await usage(one)).text, /^the ledger cannot be read: PostgreSQL/)
    for (let i = 0; i < 5; i++) await chat(one)
    server.resume()
    await eventually('everything is stored', async () => (await calls(two)) === 13)
    await one.logged(/ledger store works again/)

    // A gateway that stops while the server is silent takes its entries along.
    server.pause()
    await chat(two)
    two.child.kill('SIGTERM')
    assert.equal((await two.ended).code, 0)
    server.resume()
    const spooled = readFileSync(join(files[1].folder, 'state', 'ledger.spool'), 'utf8')
    assert.equal(spooled.match(/"id"/g)?.length, 1)
    assert.doesNotMatch(two.stdout(), /lost|dropped/)
    await start(files[1])
    await eventually('the last entry is stored', async () => (await calls(one)) === 14)
    assert.doesNotMatch(one.stdout() + two.stdout(), /only-for-tests/)
  })
})
