import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { accessRecord as record } from '../../testing/access-record.ts'
import { streamedChat } from '../../testing/model-call.ts'
import { createAccessLog } from './access-log.ts'
import type { AccessRecord } from './access-record.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

test('a request is one text line with its fields in order', () => {
  assert.equal(
    line('text', record),
    '2026-01-02T03:04:05.067000Z\tinfo\trequest gateway=default/default listener=web route=default/api ' +
      'endpoint=127.0.0.1:9000 src.addr=127.0.0.1:5000 http.method=GET http.host=example.com http.path=/a?b=c ' +
      'http.version=HTTP/1.1 http.status=200 protocol=http request.bytes=0 response.bytes=53 duration=12ms\n',
  )
})

test('a failed request shows retries, error and reason', () => {
  const failed = {
    ...record,
    status: 503,
    grpcStatus: 14,
    retryAttempt: 2,
    error: 'refused',
    reason: 'UpstreamFailure',
  }
  assert.match(
    line('text', failed),
    /http\.status=503 grpc\.status=14 protocol=http retry\.attempt=2 .* error="refused" reason=UpstreamFailure duration=/,
  )
})

test('a tcp connection shows its server name and nothing of http', () => {
  const tcp = { ...record, method: null, host: null, target: null, version: null, status: 0, protocol: 'tcp' }
  const text = line('text', tcp)
  assert.match(text, / tls\.sni=example\.com protocol=tcp /)
  assert.doesNotMatch(text, / http\./)
})

test('nothing is made while the log is off', () => {
  let written = 0
  let enabled = false
  const log = createAccessLog({
    format: 'text',
    gateway: 'default/default',
    write: () => (written += 1),
    log: { enabled: () => enabled },
  })
  log(record)
  enabled = true
  log(record)
  assert.equal(written, 1)
})

test('a model call stands between bytes and error', () => {
  const call = { ...record, protocol: 'llm', startedAt: 1000, llm: streamedChat(), error: 'refused' }
  assert.match(
    line('text', call),
    / protocol=llm .* response\.bytes=53 gen_ai\.operation\.name=chat .*time_per_output_token=20ms error="refused" /,
  )
})

test('json and text say the same', () => {
  for (const each of [record, { ...record, startedAt: 1000, llm: streamedChat({ isEstimated: true }) }]) {
    const { time, ...fields } = JSON.parse(line('json', each)) as Record<string, unknown>
    const pairs = line('text', each).trimEnd().split(' ').slice(1)
    assert.equal(time, '2026-01-02T03:04:05.067000Z')
    assert.deepEqual(
      Object.entries(fields).map(([key, value]) => `${key}=${String(value)}`),
      ['level=info', 'scope=request', ...pairs],
    )
  }
})

test('values from a client can forge neither a field nor a line', () => {
  const nasty = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc
      .array(fc.constantFrom('\n', '\r', '\0', '"', '\\', ' ', ' http.status=200', '\u2028', 'é'), { maxLength: 6 })
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(nasty, nasty, nasty, (target, host, error) => {
      const forged = { ...record, target, host, error }
      const text = line('text', forged)
      assert.doesNotMatch(text.slice(0, -1).replaceAll('\t', ''), /[\0-\x1f\x7f-\x9f\u2028\u2029]/)
      const fields = parsePairs(text.slice(text.indexOf(' ') + 1, -1))
      assert.deepEqual([fields['http.path'], fields['http.host'], fields.error], [target, host, error])
      assert.deepEqual(Object.keys(fields).length, 15)
      const read = JSON.parse(line('json', forged)) as Record<string, unknown>
      assert.deepEqual([read['http.path'], read['http.host'], read.error], [target, host, error])
    }),
    { seed: 6, numRuns: 500 },
  )
})

test('the time of a line follows the clock through seconds and milliseconds', () => {
  let now = 0
  let written = ''
  const log = createAccessLog({
    format: 'text',
    gateway: 'default/default',
    write: (line) => (written = line),
    log: { enabled: () => true },
    now: () => now,
  })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), (time) => {
      now = time
      log(record)
      assert.equal(written.split('\t')[0], new Date(time).toISOString().replace('Z', '000Z'))
    }),
    { seed: 7, numRuns: 300 },
  )
})

function line(format: 'text' | 'json', of: AccessRecord): string {
  let written = ''
  const now = () => Date.UTC(2026, 0, 2, 3, 4, 5, 67)
  createAccessLog({
    format,
    gateway: 'default/default',
    write: (text) => (written += text),
    log: { enabled: () => true },
    now,
  })(of)
  return written
}

function parsePairs(pairs: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [whole, key] of pairs.matchAll(/([^ =]+)=(?:"(?:[^"\\]|\\.)*"|[^ "]*)/g)) {
    const value = whole.slice(key!.length + 1)
    assert.ok(!Object.hasOwn(fields, key!), `field ${key} appears twice`)
    fields[key!] = value.startsWith('"') ? (JSON.parse(value) as string) : value
  }
  return fields
}
