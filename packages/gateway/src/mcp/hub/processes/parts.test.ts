import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { LogFields, Logger } from '../../../telemetry/log/logger.ts'
import { Backoff, endOfProcess } from './backoff.ts'
import { createConcealer, environmentFor } from './environment.ts'
import { Lines, LongLine } from './lines.ts'
import { Stderr } from './stderr.ts'
import { anyCharacter } from '../../../../../http/src/testing/any-character.ts'

describe('lines', () => {
  it('are the same however the bytes are cut', () => {
    const line = fc.string({ unit: anyCharacter, maxLength: 12 }).map((text) => text.replaceAll(/[\r\n]/g, ''))
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), fc.array(fc.nat()), (texts, end, cuts) => {
        const bytes = Buffer.from(texts.map((text) => text + end).join('') + 'rest')
        const edges = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
        const lines = new Lines(1 << 20)
        const found = edges.flatMap((edge, at) => lines.push(bytes.subarray(edges[at - 1] ?? 0, edge)))
        const expected = texts.map((text) => Buffer.from(text).toString()).filter((text) => text !== '')
        assert.deepEqual([...found, ...lines.end()].map(String), [...expected, 'rest'])
      }),
    )
  })

  it('beyond the limit leave their edges, and others go on', () => {
    const lines = new Lines(1000)
    const long = `begin${'x'.repeat(2000)}end`
    const found = [long.slice(0, 700), long.slice(700), '\nok\n'].flatMap((text) => lines.push(Buffer.from(text)))
    const [line, next] = found
    assert.ok(line instanceof LongLine)
    assert.match(line.head, /^beginx{251}$/)
    assert.match(line.tail, /^x{253}end$/)
    assert.deepEqual(next, Buffer.from('ok'))
    assert.equal(lines.isFlooded, false)
  })

  it('without an end are a flood', () => {
    const lines = new Lines(1000)
    for (let piece = 0; piece < 9; piece += 1) assert.deepEqual(lines.push(Buffer.alloc(1000, 'x')), [])
    assert.equal(lines.isFlooded, true)
  })
})

describe('the environment of a program', () => {
  const own = {
    ...{ PATH: '/bin', HOME: '/home/x', TZ: 'UTC', LC_ALL: 'C', XDG_STATE_HOME: '/s' },
    SESSION_KEY: 'k',
    ADMIN_TOKEN: 'a',
    OPENAI_API_KEY: 'sk-123456',
    X: '1',
  }

  it('is inherited, but for the keys of the gateway itself, with the variables of the config over it', () => {
    assert.deepEqual(
      environmentFor({ env: { X: '2', Y: '3', SESSION_KEY: 'mine', MY_API_KEY: 'm' }, clearEnv: false }, own),
      {
        PATH: '/bin',
        HOME: '/home/x',
        TZ: 'UTC',
        LC_ALL: 'C',
        XDG_STATE_HOME: '/s',
        X: '2',
        Y: '3',
        MY_API_KEY: 'm',
      },
    )
  })

  it('is next to empty unless the config says otherwise', () => {
    assert.deepEqual(environmentFor({ env: { Y: '3' }, clearEnv: true }, own), {
      PATH: '/bin',
      HOME: '/home/x',
      TZ: 'UTC',
      LC_ALL: 'C',
      Y: '3',
    })
  })

  it('does not appear in what is shown of its words', () => {
    const conceal = createConcealer({ env: { PASS: 'hunter22', LONG: 'hunter22-and-more' }, args: ['db://u:p@h'] }, own)
    assert.equal(conceal('hunter22-and-more, hunter22, db://u:p@h, sk-123456, /bin, 1'), '***, ***, ***, ***, /bin, 1')
  })
})

describe('standard error', () => {
  it('comes into the log by lines, cut, concealed, and not too many at once', () => {
    const entries: [string, LogFields | undefined][] = []
    const take = (message: string, fields?: LogFields): void => void entries.push([message, fields])
    const log: Logger = {
      module: '',
      enabled: () => true,
      error: take,
      warn: take,
      info: take,
      debug: take,
      trace: take,
    }
    let now = 0
    const stderr = new Stderr({ log, name: 'x', conceal: (text) => text.replaceAll('secret', '***'), now: () => now })
    stderr.push(Buffer.from('one secret\r\ntw'))
    stderr.push(Buffer.from('o\n\n'))
    stderr.push(Buffer.from(`${'y'.repeat(5_000)}\n`))
    assert.deepEqual(entries.splice(0), [
      ['stderr', { target: 'x', line: 'one ***' }],
      ['stderr', { target: 'x', line: 'two' }],
      ['stderr', { target: 'x', line: `${'y'.repeat(1024)}…` }],
    ])
    for (let line = 0; line < 1_000; line++) stderr.push(Buffer.from(`line ${line}\n`))
    assert.equal(entries.splice(0).length, 97)
    assert.equal(stderr.lastLine, 'line 999')
    now += 1_000
    stderr.push(Buffer.from('again'))
    stderr.end()
    assert.deepEqual(entries, [
      ['stderr lines dropped by the rate limit', { target: 'x', lines: 903 }],
      ['stderr', { target: 'x', line: 'again' }],
    ])
  })
})

describe('a program that dies', () => {
  it('is started again at once, then after 100 ms, doubling up to 30 s, and at once after a good life', () => {
    const backoff = new Backoff()
    const failure = endOfProcess('why', true)
    const waits: number[] = []
    let now = 0
    for (let death = 0; death < 12; death++) {
      backoff.died(now, now, failure)
      const from = now
      while (backoff.refusal(now) !== null) now += 50
      waits.push(now - from)
    }
    assert.deepEqual(waits, [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000])
    backoff.died(now, now + 30_000, failure)
    assert.equal(backoff.refusal(now + 30_000), null)
  })
})
