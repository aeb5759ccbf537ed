import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '@portico/http/json'
import { makeMessage } from '../protocol.ts'
import { Namer } from '../names.ts'
import { mergeDiscover, mergeInitialize, type ServerOptions, type ServerPart } from './merge-servers.ts'
import { hostileObject } from './test-messages.ts'

const GATEWAY = { name: 'portico', version: '1.2.3' }

function options(more: Partial<ServerOptions> = {}): ServerOptions {
  return { namer: new Namer(['a', 'b'], 'Conditional'), gateway: GATEWAY, canSubscribe: true, ...more }
}

function parts(...results: JsonObject[]): ServerPart[] {
  return results.map((result, at) => ({ target: 'ab'[at]!, result }))
}

test('one target says its own, whatever is in it', () => {
  const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x' }, more: 1 }
  assert.equal(mergeInitialize(parts(result), options({ namer: new Namer(['a'], 'Always') })), result)
})

test('several speak the oldest of their revisions, can what any of them can, and are one server', () => {
  const merged = mergeInitialize(
    parts(
      {
        protocolVersion: '2025-11-25',
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true },
          logging: {},
          tasks: { list: {} },
        },
        serverInfo: { name: 'A', version: '9' },
        instructions: 'Use A.',
      },
      {
        protocolVersion: '2025-06-18',
        capabilities: {
          tools: { listChanged: false },
          resources: { listChanged: true },
          completions: {},
          extensions: { 'x/y': {} },
        },
        serverInfo: { name: 'B', version: '9' },
      },
    ),
    options(),
  )
  assert.deepEqual(merged, {
    protocolVersion: '2025-06-18',
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      logging: {},
      tasks: { list: {} },
      completions: {},
      extensions: { 'x/y': {} },
    },
    serverInfo: GATEWAY,
    instructions:
      'This server combines several servers: a, b. Tools and prompts are named after the server they come from: `server_name`.\n\n[a]\nUse A.',
  })
})

test('one that is left of several is still spoken for by the gateway', () => {
  const merged = mergeInitialize(parts({ protocolVersion: '2025-06-18', serverInfo: { name: 'A' } }), options())
  assert.deepEqual(merged.serverInfo, GATEWAY)
})

test('without sessions nobody can subscribe', () => {
  const capabilities = { resources: { subscribe: true, listChanged: true } }
  const merged = mergeInitialize(parts({ capabilities }, { capabilities }), options({ canSubscribe: false }))
  assert.deepEqual(merged.capabilities, { resources: { listChanged: true } })
})

test('discovery gives the revisions of the gateway, and is not to be kept', () => {
  const merged = mergeDiscover(
    parts(
      {
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        ttlMs: 9,
        cacheScope: 'public',
        _meta: { x: 1 },
      },
      {},
    ),
    ['2025-11-25', '2026-07-28'],
    options({ namer: new Namer(['a', 'b'], 'Never') }),
  )
  assert.deepEqual(merged, {
    resultType: 'complete',
    supportedVersions: ['2025-11-25', '2026-07-28'],
    capabilities: { tools: { listChanged: true } },
    instructions: 'This server combines several servers: a, b.',
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { x: 1, 'io.modelcontextprotocol/serverInfo': GATEWAY },
  })
})

test('hostile answers are never an error', () => {
  fc.assert(
    fc.property(hostileObject, hostileObject, (first, second) => {
      const both = parts(first, second)
      makeMessage({ jsonrpc: '2.0', id: 1, result: mergeInitialize(both, options({ canSubscribe: false })) })
      makeMessage({ jsonrpc: '2.0', id: 1, result: mergeDiscover(both, [], options()) })
    }),
    { seed: 5, numRuns: 1000 },
  )
})
