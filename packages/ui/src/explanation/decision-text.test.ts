import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedRequest, RequestSummary } from '@portico/gateway/admin-api'
import { decisionText } from './decision-text.ts'

const plain = {
  ...{ reason: null, error: null, llm: null, mcp: null, attempts: 1 },
  headline: 'route a → backend b answered 200',
} as ListedRequest
const llm = {
  requestModel: 'fast',
  responseModel: 'gpt-5',
  inputTokens: 1200,
  outputTokens: null,
} as RequestSummary['llm']
const mcp = { method: 'tools/call', name: 'echo', outcome: 'ok' } as RequestSummary['mcp']

test('a denied request has the headline of its explanation', () => {
  const reason = { kind: 'RateLimit', policy: 'rateLimit', phase: 'route', code: 'rate_limited', values: {} } as const
  const headline = 'the limit 5/Minute is used up: requests pass again in 41 s'
  assert.equal(
    decisionText({ ...plain, reason, headline, mcp, attempts: 2 }),
    'The limit 5/Minute is used up: requests pass again in 41 s',
  )
  const { headline: _headline, ...without } = plain
  assert.equal(decisionText({ ...without, error: 'connection refused' }), 'Connection refused')
})

test('a request that passed has its model or tool call, and its attempts', () => {
  assert.equal(decisionText(plain), 'Route a → backend b answered 200')
  assert.equal(decisionText({ ...plain, attempts: 3 }), '3 attempts · Route a → backend b answered 200')
  assert.equal(decisionText({ ...plain, llm }), 'fast → gpt-5 · 1,200 + 0 tokens · Route a → backend b answered 200')
  assert.equal(decisionText({ ...plain, mcp }), 'tools/call echo · Route a → backend b answered 200')
  const failed = { ...plain, mcp: { ...mcp!, outcome: 'tool_error' as const }, headline: 'the tool failed' }
  assert.equal(decisionText(failed), 'The tool failed')
})
