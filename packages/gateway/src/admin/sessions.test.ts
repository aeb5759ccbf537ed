import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdminCredentials } from './credentials.ts'
import { type OpenedSession, Sessions } from './sessions.ts'

const credentials = new AdminCredentials('correct-horse')
const [credential] = credentials.all
assert.ok(credential)
const open = (sessions: Sessions) => sessions.open(credential)

const sent = ({ cookie }: OpenedSession): string => cookie.slice(0, cookie.indexOf(';'))

test('a session is its cookie for pages, and cookie and proof for calls', () => {
  const sessions = new Sessions(credentials)
  const opened = open(sessions)
  assert.match(opened.cookie, /; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/)
  assert.ok(sessions.openedBy(sent(opened)))
  assert.ok(sessions.openedBy(`theme=dark; ${sent(opened)}; other=1`))
  assert.ok(sessions.provenBy(sent(opened), opened.proof))
  for (const proof of [undefined, '', 'x', [opened.proof], open(sessions).proof])
    assert.ok(!sessions.provenBy(sent(opened), proof), String(proof))
})

test('a cookie that was changed, made up, doubled or of another process is none', () => {
  const sessions = new Sessions(credentials)
  const opened = open(sessions)
  const value = sent(opened)
  const [end = '', nonce = '', name = '', seal = ''] = value.slice(value.indexOf('=') + 1).split('.')
  for (const cookies of [
    undefined,
    '',
    'portico_session=',
    `portico_session=${Number(end) + 1000}.${nonce}.${name}.${seal}`,
    `portico_session=${end}.${nonce}.${name}.${opened.proof}`,
    `portico_session=${end}.${nonce}.${name}.`,
    `portico_session=${end}.${nonce}.${name}`,
    `portico_session=${end}.${nonce}.${seal}`,
    `${value}; ${value}`,
    `${value}x`,
    `xportico_session=${end}.${nonce}.${name}.${seal}`,
    sent(open(new Sessions(credentials))),
  ])
    assert.ok(!sessions.openedBy(cookies), String(cookies))
})

test('a session ends after eight hours, and at once when it is logged out', () => {
  let now = 1_000_000
  const sessions = new Sessions(credentials, () => now)
  const [first, second] = [open(sessions), open(sessions)]
  assert.match(sessions.end(sent(first)), /^portico_session=; Path=\/; Max-Age=0; HttpOnly/)
  assert.ok(!sessions.openedBy(sent(first)))
  assert.ok(!sessions.provenBy(sent(first), first.proof))
  assert.ok(sessions.openedBy(sent(second)))
  now += 8 * 3_600_000 - 1
  assert.ok(sessions.openedBy(sent(second)))
  now += 1
  assert.ok(!sessions.openedBy(sent(second)))
  sessions.end(undefined)
  assert.ok(!sessions.openedBy(sent(first)), 'what has ended twice is not forgotten too early')
})

test('a session ends when its token goes away, or changes its scope', () => {
  const tokens = [{ name: 'grafana', scope: 'Read', secretRef: 'a-long-enough-token' }] as const
  const those = new AdminCredentials(null, tokens)
  const sessions = new Sessions(those)
  const [first] = those.all
  assert.ok(first)
  const opened = sessions.open(first)
  assert.deepEqual(sessions.provenBy(sent(opened), opened.proof), first)
  for (const changed of [
    [],
    [{ ...tokens[0], scope: 'Write' as const }],
    [{ ...tokens[0], secretRef: 'another-token-16' }],
  ]) {
    those.use(changed)
    assert.equal(sessions.provenBy(sent(opened), opened.proof), null)
    assert.equal(sessions.openedBy(sent(opened)), null)
  }
  those.use(tokens)
  assert.notEqual(sessions.openedBy(sent(opened)), null)
})
