import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OpenedSession, Sessions } from './sessions.ts'

const sent = ({ cookie }: OpenedSession): string => cookie.slice(0, cookie.indexOf(';'))

test('a session is its cookie for pages, and cookie and proof for calls', () => {
  const sessions = new Sessions()
  const opened = sessions.open()
  assert.match(opened.cookie, /; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/)
  assert.ok(sessions.isOpen(sent(opened)))
  assert.ok(sessions.isOpen(`theme=dark; ${sent(opened)}; other=1`))
  assert.ok(sessions.isProven(sent(opened), opened.proof))
  for (const proof of [undefined, '', 'x', [opened.proof], sessions.open().proof])
    assert.ok(!sessions.isProven(sent(opened), proof), String(proof))
})

test('a cookie that was changed, made up, doubled or of another process is none', () => {
  const sessions = new Sessions()
  const opened = sessions.open()
  const value = sent(opened)
  const [end = '', nonce = '', seal = ''] = value.slice(value.indexOf('=') + 1).split('.')
  for (const cookies of [
    undefined,
    '',
    'portico_session=',
    `portico_session=${Number(end) + 1000}.${nonce}.${seal}`,
    `portico_session=${end}.${nonce}.${opened.proof}`,
    `portico_session=${end}.${nonce}.`,
    `portico_session=${end}.${nonce}`,
    `${value}; ${value}`,
    `${value}x`,
    `xportico_session=${end}.${nonce}.${seal}`,
    sent(new Sessions().open()),
  ])
    assert.ok(!sessions.isOpen(cookies), String(cookies))
})

test('a session ends after eight hours, and at once when it is logged out', () => {
  let now = 1_000_000
  const sessions = new Sessions(() => now)
  const [first, second] = [sessions.open(), sessions.open()]
  assert.match(sessions.end(sent(first)), /^portico_session=; Path=\/; Max-Age=0; HttpOnly/)
  assert.ok(!sessions.isOpen(sent(first)))
  assert.ok(!sessions.isProven(sent(first), first.proof))
  assert.ok(sessions.isOpen(sent(second)))
  now += 8 * 3_600_000 - 1
  assert.ok(sessions.isOpen(sent(second)))
  now += 1
  assert.ok(!sessions.isOpen(sent(second)))
  sessions.end(undefined)
  assert.ok(!sessions.isOpen(sent(first)), 'what has ended twice is not forgotten too early')
})
