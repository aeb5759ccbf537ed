import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventFrom, eventsOf, messageEvent } from '../testing/events.ts'
import { detailOf } from './detail.ts'

const events = eventsOf().map(eventFrom)
const text = (lines: readonly { text: string }[]) => lines.map((line) => line.text).join('\n')

test('event shows the whole event', () => {
  const { title, lines } = detailOf(events, 3, 'event')
  assert.equal(title, 'event 4')
  assert.deepEqual(JSON.parse(text(lines)), events[3]!.value)
})

test('state shows the last snapshot up to the selected event', () => {
  const { title, lines } = detailOf(events, 3, 'state')
  assert.equal(title, '3 gateway policies')
  assert.deepEqual(JSON.parse(text(lines)), events[2]!.message['requestState'])
  assert.deepEqual(detailOf(events, 0, 'state'), { title: 'no snapshot yet', lines: [] })
})

test('diff shows what changed since the snapshot before', () => {
  const { title, lines } = detailOf(events, 6, 'diff')
  assert.equal(title, '3 → 7 route policies')
  assert.deepEqual(
    lines.filter(({ text }) => /headers|path/.test(text)).map(({ kind, text }) => [kind, text]),
    [
      ['removed', '- request.headers.authorization: "<redacted>"'],
      ['added', '+ request.headers.x-added: "yes"'],
      ['changed', '~ request.path: "/api/users" → "/users"'],
    ],
  )
  assert.deepEqual(detailOf(events, 2, 'diff').lines, [{ text: 'no difference', kind: 'plain' }])
})

test('diff compares a response with a response', () => {
  assert.equal(detailOf(events, 10, 'diff').title, 'nothing → 11 backend response ready')
  const { title, lines } = detailOf(events, 12, 'diff')
  assert.equal(title, '11 → 12 final response')
  assert.equal(text(lines), '+ response.headers.x-served-by: "portico"')
})

test('request data cannot control the terminal', () => {
  const value = '\u001b[2J\u009b31m\u202e'
  const snapshot = (headers: object) =>
    messageEvent({ type: 'requestSnapshot', stage: `a${value}`, requestState: { request: { headers } } })
  const hostile = [snapshot({ a: value }), snapshot({ [value]: value })]
  for (const mode of ['event', 'state', 'diff'] as const) {
    const { title, lines } = detailOf(hostile, 1, mode)
    assert.doesNotMatch(`${title}${lines.map((line) => line.text).join('')}`, /[\p{Cc}\p{Cf}]/u)
    assert.match(text(lines), /\\u001b\[2J/)
  }
})
