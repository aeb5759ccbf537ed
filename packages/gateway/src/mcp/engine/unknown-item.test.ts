import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createExpressions } from '../../pipeline/expression/expression.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { HeaderBlock } from '@portico/http'
import { detailsOf } from '../../telemetry/recorder/details.ts'
import { McpRecord, type McpItem } from '../../records/mcp-record.ts'
import { createMcpJudge } from '../authorize.ts'
import { makeMessage } from '../protocol.ts'
import type { Exchange } from './exchange.ts'
import { traceDecision } from './trace.ts'
import { refuseUnknown } from './unknown-item.ts'

const cel = createExpressions({
  random: () => 0.5,
  clock: () => 0,
  now: () => 0,
  identity: { podName: 'p', namespace: 'n', gateway: 'g' },
})
const rules = ['mcp.tool.name == "push"', 'mcp.prompt.name == "draft"'].map((expression) => {
  return { mode: 'deny' as const, expression }
})
const judge = createMcpJudge([{ rules }], { cel })

/** How many values the recorder redacts for a call of a tool that is refused. */
function redactedValues(name: string): number {
  const item: McpItem = { kind: 'tool', name, target: 'docs' }
  const record = Object.assign(new McpRecord(), { item })
  const ended = { llm: null, decision: null, reason: 'Upstream', error: null }
  const rx = {
    ...ended,
    headers: new HeaderBlock(),
    mcp: record,
    trace: null,
    notes: null,
    shadows: null,
    rehearsal: null,
  } as unknown as RequestContext
  const verdict = judge.decide(rx, item)
  const answer = { preferEvents() {}, respond() {} }
  const exchange = { rx, record, answer, rules: verdict.rules, report() {}, finish() {} } as unknown as Exchange
  traceDecision(rx, item, verdict)
  const request = makeMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } })
  refuseUnknown(exchange, request, { kind: 'tool', exposed: name }, verdict.isAllowed ? 'error' : 'denied')
  let count = 0
  const redaction = {
    text: (text: string) => text,
    headers: () => ({}),
    values: (values: object) => {
      JSON.stringify(values, (_, value: unknown) => (count++, value))
      return values
    },
  }
  detailsOf(rx, 'none', redaction as never)
  return count
}

test('the record of an unknown tool has as many values to redact as that of a hidden one', () => {
  assert.ok(redactedValues('push') > 10)
  assert.equal(redactedValues('pusk'), redactedValues('push'))
})
