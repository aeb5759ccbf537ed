import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createResolver, type ResolverOptions } from './dns.ts'

describe('resolver', () => {
  it('makes the first caller wait and answers the next ones from memory', () => {
    const { resolver, lookups, answers } = setup()
    assert.equal(resolver.get('a.test'), null)
    resolver.resolve('a.test', answers.take)
    assert.deepEqual(answers.list, [])
    lookups.shift()!.answer('10.0.0.1')
    assert.deepEqual(answers.list, ['10.0.0.1'])
    assert.deepEqual(resolver.get('a.test'), ['10.0.0.1'])
    resolver.resolve('a.test', answers.take)
    assert.deepEqual(answers.list, ['10.0.0.1', '10.0.0.1'])
    assert.equal(lookups.length, 0)
  })

  it('makes one lookup for all waiting callers', () => {
    const { resolver, lookups, answers } = setup()
    for (let i = 0; i < 5; i++) resolver.resolve('a.test', answers.take)
    assert.equal(lookups.length, 1)
    lookups[0]!.answer('10.0.0.1')
    assert.equal(answers.list.length, 5)
  })

  it('gives all addresses, in the order of the answer', () => {
    const { resolver, lookups, answers } = setup()
    resolver.resolve('a.test', answers.take)
    lookups[0]!.answer('10.0.0.3', '10.0.0.1', '10.0.0.2')
    assert.deepEqual(resolver.get('a.test'), ['10.0.0.3', '10.0.0.1', '10.0.0.2'])
  })

  it('takes IP addresses as they are', () => {
    const { resolver, lookups, clock, answers } = setup()
    assert.deepEqual(resolver.get('127.0.0.1'), ['127.0.0.1'])
    resolver.resolve('::1', answers.take)
    assert.deepEqual(answers.list, ['::1'])
    clock.time += 1e9
    assert.deepEqual(resolver.get('127.0.0.1'), ['127.0.0.1'])
    assert.equal(lookups.length, 0)
  })

  it('keeps an answer as long as its TTL says, within bounds', () => {
    for (const [seconds, expected] of [
      [60, 60_000],
      [0, 5_000],
      [86_400, 300_000],
      [null, 30_000],
    ] as const) {
      const { resolver, lookups, clock, answers } = setup({ timeToLive: (_host, _family, done) => done(seconds) })
      resolver.resolve('a.test', answers.take)
      lookups.shift()!.answer('10.0.0.1')
      clock.time += expected - 1
      assert.deepEqual(resolver.get('a.test'), ['10.0.0.1'])
      assert.equal(lookups.length, 0, `${seconds}`)
      clock.time += 1
      resolver.get('a.test')
      assert.equal(lookups.length, 1, `${seconds}`)
    }
  })

  it('refreshes in the background', () => {
    const { resolver, lookups, clock, answers } = setup()
    resolver.resolve('a.test', answers.take)
    lookups.shift()!.answer('10.0.0.1')
    clock.time += 29_000
    assert.deepEqual(resolver.get('a.test'), ['10.0.0.1'])
    assert.equal(lookups.length, 0)
    clock.time += 1000
    assert.deepEqual(resolver.get('a.test'), ['10.0.0.1'])
    assert.deepEqual(resolver.get('a.test'), ['10.0.0.1'])
    assert.equal(lookups.length, 1)
    lookups.shift()!.answer('10.0.0.2')
    assert.deepEqual(resolver.get('a.test'), ['10.0.0.2'])
  })

  it('keeps the last good answer while lookups fail, and tries again ever more slowly', () => {
    const { resolver, lookups, clock, answers } = setup()
    resolver.resolve('a.test', answers.take)
    lookups.shift()!.answer('10.0.0.1')
    clock.time += 30_000
    const waits: number[] = []
    for (let failures = 0; failures < 8; failures++) {
      assert.deepEqual(resolver.get('a.test'), ['10.0.0.1'])
      lookups.shift()!.fail()
      const failedAt = clock.time
      while (lookups.length === 0) {
        clock.time += 50
        assert.deepEqual(resolver.get('a.test'), ['10.0.0.1'])
      }
      waits.push(clock.time - failedAt)
    }
    assert.deepEqual(waits, [100, 200, 400, 800, 1600, 3200, 5000, 5000])
    lookups.shift()!.answer('10.0.0.9')
    assert.deepEqual(resolver.get('a.test'), ['10.0.0.9'])
  })

  it('remembers a failure for a second', () => {
    const { resolver, lookups, clock, answers } = setup()
    resolver.resolve('a.test', answers.take)
    lookups.shift()!.fail()
    for (let i = 0; i < 100; i++) resolver.resolve('a.test', answers.take)
    assert.equal(lookups.length, 0)
    assert.equal(answers.list.length, 101)
    assert.ok(answers.list.every((answer) => answer === 'not found'))
    assert.equal(resolver.get('a.test'), null)
    clock.time += 1000
    resolver.resolve('a.test', answers.take)
    lookups.shift()!.answer('10.0.0.1')
    assert.equal(answers.list.at(-1), '10.0.0.1')
  })

  it('forgets a name that was not used for one refresh period', () => {
    const { resolver, lookups, clock, answers } = setup()
    resolver.resolve('a.test', answers.take)
    lookups.shift()!.answer('10.0.0.1')
    clock.time += 30_001
    assert.equal(resolver.get('a.test'), null)
    resolver.resolve('a.test', answers.take)
    lookups.shift()!.answer('10.0.0.2')
    assert.equal(answers.list.at(-1), '10.0.0.2')
  })

  it('keeps a bounded number of names, and answers those who wait for a forgotten one', () => {
    const { resolver, lookups, answers } = setup({ maxNames: 2 })
    for (const name of ['a.test', 'b.test', 'c.test']) resolver.resolve(name, answers.take)
    for (const lookup of lookups) lookup.answer('10.0.0.1')
    assert.equal(answers.list.length, 3)
    assert.equal(resolver.get('a.test'), null)
    assert.deepEqual(resolver.get('c.test'), ['10.0.0.1'])
  })

  const families: [ResolverOptions['family'], number, string[]][] = [
    ['All', 0, ['fd00::1', '10.0.0.1']],
    ['V4Preferred', 0, ['10.0.0.1']],
    ['V4Only', 4, ['10.0.0.1']],
    ['V6Only', 6, ['fd00::1']],
  ]
  for (const [family, asked, want] of families) {
    it(`selects addresses for ${family}`, () => {
      const { resolver, lookups, answers } = setup({ family })
      resolver.resolve('a.test', answers.take)
      assert.equal(lookups[0]!.family, asked)
      lookups[0]!.answer('fd00::1', '10.0.0.1')
      assert.deepEqual(resolver.get('a.test')!.toSorted(), want.toSorted())
    })
  }

  it('takes IPv6 for V4Preferred where there is nothing else, and fails for V4Only', () => {
    for (const family of ['V4Preferred', 'V4Only'] as const) {
      const { resolver, lookups, answers } = setup({ family })
      resolver.resolve('a.test', answers.take)
      lookups[0]!.answer('fd00::1')
      assert.match(answers.list[0]!, family === 'V4Only' ? /no address/ : /fd00::1/)
    }
  })

  it('fails those who wait when it is closed, and ignores what comes later', () => {
    const { resolver, lookups, answers } = setup()
    resolver.resolve('a.test', answers.take)
    resolver.close()
    assert.deepEqual(answers.list, ['the resolver is closed'])
    lookups[0]!.answer('10.0.0.1')
    assert.equal(answers.list.length, 1)
  })

  it('knows localhost through the system', async () => {
    const resolver = createResolver({ family: 'Auto' })
    const addresses = await new Promise<readonly string[]>((resolve, reject) => {
      resolver.resolve('localhost', (error, found) => (error ? reject(error) : resolve(found)))
    })
    assert.ok(addresses.includes('127.0.0.1') || addresses.includes('::1'))
    assert.deepEqual(resolver.get('localhost'), addresses)
    resolver.close()
  })
})

interface PendingLookup {
  family: number
  answer: (...addresses: string[]) => void
  fail: () => void
}

function setup(options: Partial<ResolverOptions> = {}) {
  const clock = { time: 1000 }
  const lookups: PendingLookup[] = []
  const list: string[] = []
  const resolver = createResolver({
    family: 'All',
    now: () => clock.time,
    lookup: (_host, family, done) => {
      const answer = (...addresses: string[]) =>
        done(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
      lookups.push({ family, answer, fail: () => done(new Error('not found'), []) })
    },
    ...options,
  })
  const take = (error: Error | null, addresses: readonly string[]) => list.push(error?.message ?? addresses.join())
  return { clock, lookups, resolver, answers: { list, take } }
}
