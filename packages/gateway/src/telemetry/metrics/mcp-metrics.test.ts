import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { McpRecord } from '../../records/mcp-record.ts'
import { toolCall } from '../../testing/mcp/mcp-message.ts'
import { Collector } from './metrics-collect.ts'
import { createRegion, MOST_LABEL_SETS, Registry } from './metrics.ts'
import { createRequestMetrics } from './request-metrics.ts'

const PLACE = 'bind="bind/80",gateway="default/default",listener="web",route="api"'

test('a call is counted by method, kind, target, name and outcome, and timed', () => {
  const { record, lines } = start()
  record(toolCall())
  record(toolCall({ outcome: 'denied' }))
  const labels = `method="tools/call",resource_type="tool",server="git",resource="commit"`
  assert.deepEqual(lines('portico_mcp_requests_total'), [
    `{${labels},outcome="ok",${PLACE}} 1`,
    `{${labels},outcome="denied",${PLACE}} 1`,
  ])
  assert.deepEqual(lines('portico_mcp_request_duration_seconds_sum'), [
    `{${labels},outcome="ok",${PLACE}} 0.9`,
    `{${labels},outcome="denied",${PLACE}} 0.9`,
  ])
})

test('an MCP message and another request of one backend are counted apart', () => {
  const { record, lines } = start()
  record(toolCall())
  record(null)
  const protocols = lines('portico_requests_total').map((line) => /protocol="(\w+)"/.exec(line)![1])
  assert.deepEqual(protocols, ['mcp', 'http'])
})

test('a stream that opens or ends is a request and no message', () => {
  const { record, lines } = start()
  record(toolCall({ method: '', item: null }))
  assert.deepEqual(lines('portico_mcp_requests_total'), [])
})

test('values that clients make up get no label of their own: methods, task ids, names of unknown items', () => {
  const { record, lines } = start()
  record(toolCall({ method: 'made/up', item: null, target: '' }))
  record(toolCall({ method: 'tasks/get', item: { kind: 'task', name: 'id-1', target: 'git' } }))
  record(toolCall({ item: { kind: 'tool', name: 'nobody', target: '' }, target: '', outcome: 'error' }))
  const labels = lines('portico_mcp_requests_total').map((line) => line.slice(1, line.indexOf(',outcome')))
  assert.deepEqual(labels, [
    'method="other",resource_type="none",server="unknown",resource="none"',
    'method="tasks/get",resource_type="task",server="git",resource="none"',
    'method="tools/call",resource_type="tool",server="unknown",resource="unknown"',
  ])
})

test('names that become too many are counted together, and somebody hears of it once', () => {
  const { record, lines, full } = start()
  for (let at = 0; at < MOST_LABEL_SETS + 5; at += 1) {
    record(toolCall({ method: 'resources/read', item: { kind: 'resource', name: `file:///${at}`, target: 'git' } }))
  }
  assert.deepEqual(full, ['resource'])
  const counted = lines('portico_mcp_requests_total')
  assert.equal(counted.length, MOST_LABEL_SETS + 1)
  assert.match(counted.at(-1)!, /method="resources\/read".*resource="other".* 5$/)
})

function start() {
  const collector = new Collector()
  const region = createRegion()
  collector.attach('0', region)
  const registry = new Registry({ region, announce: (definition) => collector.define('0', definition) })
  const full: string[] = []
  const record = createRequestMetrics(registry, (names) => full.push(names.join()))({
    bind: 'bind/80',
    gateway: 'default/default',
    listener: 'web',
    route: 'api',
    backends: [{ name: 'tools', protocol: 'http' }],
  })
  const lines = (name: string) =>
    [...collector.render()]
      .join('')
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .map((line) => line.slice(name.length))
  return { record: (mcp: McpRecord | null) => record({ ...OUTCOME, mcp }, null), lines, full }
}

const OUTCOME = {
  method: 'POST',
  status: 200,
  reason: 'Upstream',
  backendIndex: 0,
  retryAttempt: 0,
  requestBytes: 10,
  responseBytes: 53,
  startedAt: 1000,
  durationMs: 900,
  llm: null,
}
