import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BackendsView, ViewedBackend, ViewedEndpoint, ViewedPart } from '@portico/gateway/admin-config'
import { findTroubles } from './backend-troubles.ts'

const endpoint = (name: string, state: ViewedEndpoint['state']) => ({ name, state }) as ViewedEndpoint
const part = (name: string, rest: Partial<ViewedPart>) =>
  ({ name, health: null, endpoints: [], lastError: null, ...rest }) as ViewedPart
const backend = (name: string, rest: Partial<ViewedBackend>) =>
  ({ key: `k/${name}`, name, groups: [], endpoints: [], activeGroup: null, ...rest }) as ViewedBackend

test('healthy backends are not listed, and an evicted provider names its fallback', () => {
  const error = { at: 1, request: 'r', outcome: 'unavailable', message: 'no' }
  const view: BackendsView = {
    ...{ generation: 1, unheard: 0 },
    backends: [
      backend('fine', { endpoints: [endpoint('a:1', 'healthy')] }),
      backend('', { endpoints: [endpoint('a:1', 'evicted'), endpoint('a:2', 'failing')] }),
      backend('models', {
        activeGroup: 1,
        groups: [
          [part('main', { health: endpoint('main', 'evicted') })],
          [part('spare', { health: endpoint('spare', 'healthy') })],
        ],
      }),
      backend('tools', { groups: [[part('files', { lastError: error })]] }),
    ],
  }
  assert.deepEqual(
    findTroubles(view).map((found) => [
      found.backend,
      found.part,
      found.endpoint?.name,
      found.error?.message,
      found.note,
    ]),
    [
      ['k/', '', 'a:1', undefined, ''],
      ['k/', '', 'a:2', undefined, ''],
      ['models', 'main', 'main', undefined, 'requests go to spare'],
      ['tools', 'files', undefined, 'no', ''],
    ],
  )
})
