import type { ConfigEffect, PartChanges } from '@portico/gateway/admin-config'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effectSentences } from './effect-text.ts'

test('an effect is told in sentences, with numbers that fit their words', () => {
  assert.deepEqual(effectSentences(effect({})), ['Nothing changes.'])
  assert.deepEqual(effectSentences(effect({ routes: parts(3, 1, 0, 41), policies: parts(1, 0, 2, 9) })), [
    '3 routes change, 1 route is added, of 41 then.',
    '1 policy changes, 2 policies are dropped, of 9 then.',
    'No port closes.',
    'No limit is reset.',
    'Requests under way end on the config that they began with.',
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
    '1 limit begins anew: what was spent is forgotten.',
  ])
})

function parts(changed: number, added: number, dropped: number, total: number): PartChanges {
  return { added: [], changed: [], dropped: [], counts: { changed, added, dropped }, total }
}

function effect(said: Partial<ConfigEffect>): ConfigEffect {
  const none = parts(0, 0, 0, 1)
  return {
    ...{ binds: none, listeners: none, routes: none, backends: none, policies: none },
    ...{ ports: { opened: [], closed: [] }, limits: { reset: [], added: [], dropped: [] }, connections: 0 },
    ...said,
  }
}
