import type { ConfigEffect, PartChanges } from '@portico/gateway/admin-config'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effectSentences } from './effect-text.ts'

test('an effect is a list of sentences', () => {
  assert.deepEqual(effectSentences(effect({})), ['Nothing changes.'])
  assert.deepEqual(effectSentences(effect({ routes: parts(3, 1, 0, 41), policies: parts(1, 0, 2, 9) })), [
    '3 of 41 routes change, 1 route is added.',
    'No stream is open.',
    '1 of 9 policies changes, 2 policies are removed.',
    'No port closes.',
    'No limit is reset.',
    'Requests in progress finish on the config they started with.',
  ])
  const closing = effect({
    listeners: parts(0, 0, 1, 0),
    ports: { opened: ['*:1', '*:2'], closed: ['127.0.0.1:8080'] },
    limits: { reset: ['a'], added: [], dropped: [] },
    connections: 2,
  })
  assert.deepEqual(effectSentences(closing).slice(1, 4), [
    'Port *:1, *:2 open.',
    'Port 127.0.0.1:8080 closes; 2 connections are open there.',
    '1 limit is reset: the spent budget is forgotten.',
  ])
})

test('open streams on changed routes are counted', () => {
  const said = (changed: number, open: number, onThem: number, unheard = 0): string | undefined =>
    effectSentences(effect({ routes: parts(changed, 0, 0, 3), streams: { open, onThem, unheard } }))[1]
  assert.equal(said(3, 41, 2), '2 of 41 open streams are on them.')
  assert.equal(said(1, 1, 1), '1 of 1 open stream is on it.')
  assert.equal(said(1, 5, 0, 1), 'None of 5 open streams is on it; 1 worker did not report.')
  assert.equal(said(1, 0, 0, 1), 'No stream is known to be open; 1 worker did not report.')
  const dropped = effect({ routes: parts(0, 0, 1, 2), streams: { open: 2, onThem: 2, unheard: 0 } })
  assert.equal(effectSentences(dropped)[1], '2 of 2 open streams are on it.')
  const added = effect({ routes: parts(0, 1, 0, 2), streams: { open: 2, onThem: 0, unheard: 0 } })
  assert.equal(effectSentences(added)[1], 'No port closes.')
})

function parts(changed: number, added: number, dropped: number, total: number): PartChanges {
  return { added: [], changed: [], dropped: [], counts: { changed, added, dropped }, total }
}

function effect(said: Partial<ConfigEffect>): ConfigEffect {
  const none = parts(0, 0, 0, 1)
  return {
    ...{ binds: none, listeners: none, routes: none, backends: none, policies: none },
    ...{
      streams: { open: 0, onThem: 0, unheard: 0 },
      ports: { opened: [], closed: [] },
      limits: { reset: [], added: [], dropped: [] },
      connections: 0,
    },
    ...said,
  }
}
