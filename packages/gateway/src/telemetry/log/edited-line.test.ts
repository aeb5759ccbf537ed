import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'node:test'
import { accessRecord as record } from '../../testing/access-record.ts'
import { mcpMessage } from '../../testing/mcp/mcp-message.ts'
import { modelCall } from '../../testing/model-call.ts'
import { createAccessLog, type LineChanges, lineFields, type LogValue } from './access-log.ts'
import type { AccessRecord } from './access-record.ts'
import type { LogFormat } from './logger.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

test('added fields come last, in order; removed ones are gone', () => {
  const changes = {
    removed: new Set(['gateway', 'http.path', 'duration', 'listener']),
    added: fields({ user: 'ann', n: 7 }),
  }
  assert.equal(
    line('text', record, changes),
    '2026-01-02T03:04:05.067000Z\tinfo\trequest route=default/api endpoint=127.0.0.1:9000 src.addr=127.0.0.1:5000 ' +
      'http.method=GET http.host=example.com http.version=HTTP/1.1 http.status=200 protocol=http request.bytes=0 ' +
      'response.bytes=53 user=ann n=7\n',
  )
})

test('json keeps the types of added values', () => {
  const added = { text: 'a b', whole: 7, half: 0.5, yes: true, list: [1, 'x'], map: { a: null } }
  const { level, time, scope, ...rest } = JSON.parse(line('json', record, { removed: allFields, added: fields(added) }))
  assert.deepEqual([level, time, scope], ['info', '2026-01-02T03:04:05.067000Z', 'request'])
  assert.deepEqual(rest, added)
})

test('text shows lists and mappings as JSON', () => {
  const added = fields({ text: 'a b', yes: false, list: [1, 'x'], 'a=b c': '' })
  assert.equal(
    line('text', record, { removed: allFields, added }).split('\trequest ')[1],
    'text="a b" yes=false list="[1,\\"x\\"]" "a=b c"=""\n',
  )
})

test('long values are cut', () => {
  const long = 'x'.repeat(10_000)
  const text = JSON.parse(line('json', record, { removed: allFields, added: fields({ long, list: [long] }) }))
  assert.equal(text.long, `${'x'.repeat(4096)}…`)
  assert.equal(text.list, `["${'x'.repeat(4094)}…`)
  assert.ok(line('text', record, { removed: allFields, added: fields({ long }) }).length < 4200)
})

test('a line that was looked through without finding anything to change is the line of every day', () => {
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
  const shadowRecord = fc
    .array(fc.constantFrom('allowed', 'denied', 'error', 'unknown'), { minLength: 1, maxLength: 3 })
    .map((outcomes) => ({
      outcomes: outcomes.map((outcome) => {
        return { policy: 'authorization', outcome, status: null, code: null, text: '', values: {} }
      }),
    }))
  const anyRecord: fc.Arbitrary<AccessRecord> = fc.record({
    listenerName: optional(fc.string()),
    routeName: optional(fc.string()),
    endpoint: optional(fc.string()),
    srcAddr: optional(fc.string()),
    srcIdentity: optional(fc.string()),
    method: optional(fc.string()),
    host: optional(fc.string()),
    target: optional(fc.string({ unit: anyCharacter })),
    version: optional(fc.string()),
    status: fc.constantFrom(0, 200, 503),
    grpcStatus: optional(fc.nat()),
    sni: optional(fc.string()),
    traceContext: optional(fc.constant({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 })),
    requestId: optional(fc.string()),
    decisionId: optional(fc.constant('r6spgqsg2bea42d')),
    protocol: fc.constantFrom('http', 'tcp', 'llm', 'mcp'),
    retryAttempt: fc.nat(3),
    requestBytes: fc.nat(),
    responseBytes: fc.nat(),
    rehearsal: optional(fc.array(fc.string({ unit: anyCharacter }), { maxLength: 3 })),
    error: optional(fc.string({ unit: anyCharacter })),
    reason: fc.constantFrom('Upstream', 'Timeout'),
    startedAt: fc.constant(1000),
    durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    llm: optional(modelCall),
    mcp: optional(mcpMessage),
    shadows: optional(shadowRecord),
  })
  fc.assert(
    fc.property(anyRecord, fc.constantFrom<LogFormat>('text', 'json'), (of, format) => {
      // A name that no field has sends the record through the table of fields.
      assert.equal(line(format, of, { removed: new Set(['none']), added: fields({}) }), line(format, of, null))
      assert.equal(line(format, of, { removed: new Set(), added: fields({}) }), line(format, of, null))
    }),
    { seed: 11, numRuns: 400 },
  )
})

test('neither names nor values can forge a field or a line', () => {
  const nasty = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc
      .array(fc.constantFrom('\n', '\r', '\0', '"', '\\', ' ', '=', ' user=root', '\u2028', '\u202e', 'é'), {
        maxLength: 6,
      })
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(fc.dictionary(nasty, fc.oneof(nasty, fc.array(nasty)), { maxKeys: 4 }), (values) => {
      const added = fields(values)
      const changes = { removed: new Set(['none']), added }
      const text = line('text', record, changes)
      assert.doesNotMatch(text.slice(0, -1).replaceAll('\t', ''), /[\0-\x1f\x7f-\x9f\u2028\u2029\u202e]/)
      const ending = text.slice(text.indexOf(' duration=12ms') + 14, -1)
      assert.deepEqual(
        readPairs(ending),
        Object.entries(values).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      )
      const json = line('json', record, changes)
      assert.doesNotMatch(json.slice(0, -1), /[\0-\x1f\x7f-\x9f\u2028\u2029\u202e]/)
      const own = { level: 1, time: 1, scope: 1, ...Object.fromEntries(lineFields.map((name) => [name, 1])) }
      const read = Object.entries(JSON.parse(json)).filter(([name]) => !Object.hasOwn(own, name))
      assert.deepEqual(Object.fromEntries(read), Object.fromEntries(Object.entries(values)))
    }),
    { seed: 12, numRuns: 500 },
  )
})

test('nothing is asked for a line while the log is off', () => {
  const log = createAccessLog({
    format: 'text',
    gateway: 'default/default',
    write: () => assert.fail('written'),
    log: { enabled: () => false },
  })
  log(record, () => assert.fail('asked'))
})

test('a line that is not wanted is not written', () => {
  assert.equal(line('text', record, 'none'), '')
})

const allFields = new Set(lineFields)

function fields(values: Record<string, LogValue>): Map<string, LogValue> {
  return new Map(Object.entries(values))
}

function line(format: LogFormat, of: AccessRecord, changes: LineChanges | 'none' | null): string {
  let written = ''
  const now = () => Date.UTC(2026, 0, 2, 3, 4, 5, 67)
  const log = createAccessLog({
    format,
    gateway: 'default/default',
    write: (text) => (written += text),
    log: { enabled: () => true },
    now,
  })
  log(of, changes === null ? null : () => (changes === 'none' ? null : changes))
  return written
}

/** Pairs of quoted or plain names and values. */
function readPairs(text: string): [string, string][] {
  const part = '"(?:[^"\\\\]|\\\\.)*"|[^ ="]*'
  const pairs = [...text.matchAll(new RegExp(` (${part})=("(?:[^"\\\\]|\\\\.)*"|[^ "]*)`, 'gy'))]
  assert.equal(pairs.map(([whole]) => whole).join(''), text)
  const plain = (value: string): string => (value.startsWith('"') ? (JSON.parse(value) as string) : value)
  return pairs.map(([, name, value]) => [plain(name!), plain(value!)])
}
