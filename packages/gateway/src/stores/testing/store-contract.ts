import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import type { LedgerEntry, LedgerStore, UsageQuery } from '../store.ts'

/** Opens an empty store; a second call in the same test opens the same data again. */
type OpenStore = (t: TestContext) => () => Promise<LedgerStore>

/** Returns an entry of a call that cost one millionth of a dollar. */
export function entryOf(id: string, fields: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    id,
    at: Date.UTC(2026, 0, 31, 23, 30),
    requestId: '',
    key: 'support-bot',
    team: 'support',
    route: 'chat',
    requestedModel: 'smart',
    model: 'gpt-5.5',
    provider: 'openai',
    operation: 'chat',
    status: 200,
    inputTokens: 10,
    outputTokens: 5,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    reasoningTokens: null,
    nanoDollars: 1_000,
    basis: 'computed',
    provenance: 'openai/gpt-5.5 of config',
    firstTokenMs: null,
    totalMs: 12.5,
    attempts: 1,
    cache: '',
    savedNanoDollars: null,
    ...fields,
  }
}

const UNPRICED = { nanoDollars: null, basis: 'unknown', provenance: 'no price for m' } as const
const HOUR = 3_600_000
const ALWAYS = { since: 0, until: Number.MAX_SAFE_INTEGER }

/** The tests that every adapter must pass. */
export function describeStore(name: string, useStore: OpenStore, runs = { quick: 25, full: 300 }): void {
  describe(`the ledger in ${name}`, () => {
    test('stores each id once, and keeps the first entry', async (t) => {
      const store = await useStore(t)()
      assert.equal(await store.add([entryOf('a'), entryOf('b')]), 2)
      assert.equal(await store.add([entryOf('b', { nanoDollars: 9 }), entryOf('c'), entryOf('c')]), 1)
      const [sums] = (await store.usage({ by: [], ...ALWAYS })).sums
      assert.deepEqual([sums?.calls, sums?.nanoDollars], [3, 3_000n])
      await store.close()
    })

    test('adds all entries or none', async (t) => {
      const store = await useStore(t)()
      const wrong = entryOf('b', { status: 'x' as unknown as number })
      await assert.rejects(async () => store.add([entryOf('a'), wrong]))
      assert.deepEqual(await store.usage({ by: [], ...ALWAYS }), { sums: [], isCut: false })
      assert.equal(await store.add([entryOf('a')]), 1)
      await store.close()
    })

    test('keeps its entries when it is opened again', async (t) => {
      const open = useStore(t)
      const first = await open()
      await first.add([entryOf('a')])
      await first.close()
      const second = await open()
      assert.equal(await second.add([entryOf('a')]), 0)
      await second.close()
    })

    test('counts unknown costs apart, never as 0', async (t) => {
      const store = await useStore(t)()
      await store.add([
        entryOf('a', UNPRICED),
        entryOf('b', { key: 'other', ...UNPRICED }),
        entryOf('c', { key: 'other', basis: 'estimated' }),
        entryOf('d', { key: 'free', nanoDollars: 0 }),
      ])
      const { sums } = await store.usage({ by: ['key'], ...ALWAYS })
      assert.deepEqual(
        sums.map(({ group, calls, unpricedCalls, estimatedCalls, nanoDollars }) => [
          ...group,
          ...[calls, unpricedCalls, estimatedCalls, nanoDollars],
        ]),
        [
          ['other', 2, 1, 1, 1_000n],
          ['free', 1, 0, 0, 0n],
          ['support-bot', 1, 1, 0, null],
        ],
      )
      await store.close()
    })

    test('adds up tokens by class, and costs beyond the precision of doubles', async (t) => {
      const store = await useStore(t)()
      const tokens = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, reasoningTokens: 5 }
      const nanoDollars = Number.MAX_SAFE_INTEGER
      await store.add(['a', 'b', 'c'].map((id) => entryOf(id, { ...tokens, nanoDollars })))
      const [sums] = (await store.usage({ by: [], ...ALWAYS })).sums
      assert.deepEqual(sums, {
        ...{ group: [], calls: 3, unpricedCalls: 0, estimatedCalls: 0, cachedCalls: 0 },
        ...{ nanoDollars: 3n * BigInt(nanoDollars), savedNanoDollars: 0n },
        ...{ inputTokens: 3, outputTokens: 6, cacheReadTokens: 9, cacheWriteTokens: 12, reasoningTokens: 15 },
      })
      await store.close()
    })

    test('counts answers from the cache, and adds up what they saved', async (t) => {
      const store = await useStore(t)()
      const hit = { cache: 'hit', nanoDollars: 0, attempts: 0 }
      await store.add([
        entryOf('a', { cache: 'miss' }),
        entryOf('b', { ...hit, savedNanoDollars: 1_000 }),
        entryOf('c', { ...hit, savedNanoDollars: Number.MAX_SAFE_INTEGER }),
        entryOf('d', hit),
      ])
      const { sums } = await store.usage({ by: ['cache'], ...ALWAYS })
      assert.deepEqual(
        sums.map((each) => [...each.group, each.calls, each.cachedCalls, each.nanoDollars, each.savedNanoDollars]),
        [
          ['miss', 1, 0, 1_000n, 0n],
          ['hit', 3, 3, 0n, 1_000n + BigInt(Number.MAX_SAFE_INTEGER)],
        ],
      )
      await store.close()
    })

    test('takes names of any length, and with any characters', async (t) => {
      const store = await useStore(t)()
      const names = ['a\0b', '\ud83d', '{"a": "\\u0000"}', '\ud83d\ude00'.repeat(128), '\u20ac'.repeat(257)]
      const wide = names.map((model, i) => {
        const same = { key: model.repeat(9), team: model, route: model, requestedModel: model, model, provider: model }
        return entryOf(`${i}`, same)
      })
      assert.equal(await store.add(wide), names.length)
      assert.equal(await store.add([entryOf('again', { ...wide[0], id: 'again' })]), 1)
      const { sums } = await store.usage({ by: ['model', 'key'], ...ALWAYS })
      const counts = sums.map(({ calls }) => calls)
      assert.deepEqual(counts, [2, 1, 1, 1, 1])
      await store.close()
    })

    test('groups by any field, within a range of time', async (t) => {
      const store = await useStore(t)()
      const at = Date.UTC(2026, 1, 1)
      await store.add([
        entryOf('a'),
        entryOf('b', { at: at - 1 }),
        entryOf('c', { at }),
        entryOf('d', { at, status: 500 }),
      ])
      const groupsOf = async (query: UsageQuery) =>
        (await store.usage(query)).sums.map(({ group, calls }) => [...group, calls])
      assert.deepEqual(await groupsOf({ by: ['day', 'status'], ...ALWAYS }), [
        ['2026-01-31', '200', 2],
        ['2026-02-01', '200', 1],
        ['2026-02-01', '500', 1],
      ])
      assert.deepEqual(await groupsOf({ by: ['hour', 'team', 'requestedModel'], since: 0, until: at }), [
        ['2026-01-31T23:00Z', 'support', 'smart', 2],
      ])
      assert.deepEqual(await groupsOf({ by: ['model', 'provider', 'route'], since: at, until: at + 1 }), [
        ['gpt-5.5', 'openai', 'chat', 2],
      ])
      assert.deepEqual(await groupsOf({ by: ['basis', 'operation'], since: at + 1, until: at + 2 }), [])
      await store.close()
    })

    test('removes old entries in portions', async (t) => {
      const store = await useStore(t)()
      await store.add(['a', 'b', 'c', 'd'].map((id, i) => entryOf(id, { at: i })))
      const remove = async () => store.removeBefore(3, 2)
      assert.deepEqual([await remove(), await remove(), await remove()], [2, 1, 0])
      await store.close()
    })

    test('keeps the sums of entries that are removed', async (t) => {
      const store = await useStore(t)()
      const at = Date.UTC(2026, 0, 31, 22)
      await store.add([
        entryOf('a', { at }),
        entryOf('b', { at: at + HOUR - 1, ...UNPRICED }),
        entryOf('c', { at: at + HOUR, basis: 'estimated' }),
      ])
      const query = { by: ['hour', 'basis'], ...ALWAYS }
      const before = await store.usage(query)
      assert.equal(await store.removeBefore(at + HOUR, 10), 2)
      assert.deepEqual(await store.usage(query), before)
      // Entries of the first hour are removed, so that the hour counts as a whole.
      const callsIn = async (since: number, until: number) =>
        (await store.usage({ by: [], since, until })).sums[0]?.calls ?? 0
      assert.deepEqual(
        [await callsIn(at, at + 1), await callsIn(at + 1, at + HOUR), await callsIn(at + 1, at + HOUR + 1)],
        [2, 0, 1],
      )
      assert.equal(await store.removeSumsBefore(at + HOUR - 1, 10), 0)
      assert.equal(await store.removeSumsBefore(at + HOUR, 1), 1)
      assert.equal(await store.removeSumsBefore(at + HOUR, 10), 1)
      assert.equal(await callsIn(0, at + 2 * HOUR), 1)
      await store.close()
    })

    test('has the same sums for any entries, ranges and retention', async (t) => {
      const entry = fc.record({
        id: fc.nat(40),
        at: fc.nat(5 * HOUR).map((offset) => Date.UTC(2026, 0, 31, 22) + offset),
        key: fc.constantFrom('a', 'b', ''),
        nanoDollars: fc.option(fc.nat(Number.MAX_SAFE_INTEGER)),
        basis: fc.constantFrom('computed', 'estimated', 'unknown'),
        inputTokens: fc.option(fc.nat(1e10)),
      })
      const range = fc.tuple(fc.nat(6 * HOUR), fc.nat(6 * HOUR))
      await fc.assert(
        fc.asyncProperty(
          fc.array(entry, { maxLength: 40 }),
          fc.array(range, { minLength: 1, maxLength: 4 }),
          fc.nat(5),
          async (records, ranges, hours) => {
            const store = await useStore(t)()
            const entries = records.map(({ id, ...fields }) => entryOf(String(id), fields as Partial<LedgerEntry>))
            for (let i = 0; i < entries.length; i += 7) await store.add(entries.slice(i, i + 7))
            const kept = [...new Map(entries.toReversed().map((each) => [each.id, each])).values()]
            const start = Date.UTC(2026, 0, 31, 22)
            await store.removeBefore(start + hours * HOUR, 100)
            for (const [from, length] of ranges) {
              // Only whole hours are exact where entries are removed.
              const exact = (at: number): number => (at < start + hours * HOUR ? at - (at % HOUR) : at)
              const since = exact(start + from)
              const until = exact(start + from + length)
              const { sums } = await store.usage({ by: ['key'], since, until })
              const inRange = kept.filter(({ at }) => at >= since && at < until)
              const found = sums.map(({ group, calls, unpricedCalls, estimatedCalls, inputTokens, nanoDollars }) => [
                group[0],
                [calls, unpricedCalls, estimatedCalls, inputTokens, nanoDollars],
              ])
              assert.deepEqual(Object.fromEntries(found), sumsByKey(inRange))
            }
            await store.close()
          },
        ),
        { numRuns: process.env['PROPERTIES'] === 'full' ? runs.full : runs.quick },
      )
    })
  })
}

/** Adds up entries without a store. */
function sumsByKey(entries: readonly LedgerEntry[]): Record<string, unknown> {
  const sums = [...new Set(entries.map(({ key }) => key))].map((key) => {
    const own = entries.filter((entry) => entry.key === key)
    const costs = own.flatMap(({ nanoDollars }) => (nanoDollars === null ? [] : BigInt(nanoDollars)))
    const estimated = own.filter(({ basis }) => basis === 'estimated').length
    const tokens = own.reduce((sum, { inputTokens }) => sum + (inputTokens ?? 0), 0)
    const cost = costs.length === 0 ? null : costs.reduce((sum, each) => sum + each)
    return [key, [own.length, own.length - costs.length, estimated, tokens, cost]]
  })
  return Object.fromEntries(sums) as Record<string, unknown>
}
