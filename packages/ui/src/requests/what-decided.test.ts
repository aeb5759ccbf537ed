import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestSummary } from '@portico/gateway/admin-api'
import { whatDecided } from './what-decided.ts'

const plain = { reason: null, error: null, llm: null, mcp: null, attempts: 1 } as RequestSummary
const llm = {
  requestModel: 'fast',
  responseModel: 'gpt-5',
  inputTokens: 1200,
  outputTokens: null,
} as RequestSummary['llm']
const mcp = { method: 'tools/call', name: 'echo', outcome: 'ok' } as RequestSummary['mcp']

test('a refusal names its policy, its cause and what it decided by', () => {
  const values = { limit: 5, unit: 'Minute', rules: [1, 2] }
  const reason = { kind: 'RateLimit', policy: 'rateLimit', phase: 'route', code: 'rate_limited', values } as const
  assert.equal(whatDecided({ ...plain, reason }), 'rateLimit: rate limited limit 5, unit Minute')
  const noStep = { ...reason, kind: 'NotFound', policy: null, code: 'route_not_found', values: {} }
  assert.equal(whatDecided({ ...plain, reason: noStep }), 'NotFound: route not found')
  assert.equal(whatDecided({ ...plain, reason: noStep, error: 'refused' }), 'NotFound: refused')
})

test('what passed says what a model or a tool did, and how often it was tried', () => {
  assert.equal(whatDecided(plain), '')
  assert.equal(whatDecided({ ...plain, attempts: 3 }), '3 attempts')
  assert.equal(whatDecided({ ...plain, llm }), 'fast → gpt-5 · 1,200 + 0 tokens')
  assert.equal(whatDecided({ ...plain, mcp }), 'tools/call echo')
  assert.equal(whatDecided({ ...plain, mcp: { ...mcp!, outcome: 'tool_error' } }), 'tools/call echo: tool_error')
  assert.equal(whatDecided({ ...plain, error: 'connection refused' }), 'connection refused')
})
