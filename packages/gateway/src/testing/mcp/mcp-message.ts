import * as fc from 'fast-check'
import { McpRecord, type McpItem, type McpOutcome } from '../../records/mcp-record.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

/** A call of a tool, begun at 1000 on the clock of requests. */
export function toolCall(facts: Partial<McpRecord> = {}): McpRecord {
  return Object.assign(new McpRecord(), {
    method: 'tools/call',
    target: 'git',
    item: { kind: 'tool', name: 'commit', target: 'git' },
    session: 'f3a9',
    version: '2025-11-25',
    outcome: 'ok',
    askedAt: 1000,
    answeredAt: 1020.4,
    ...facts,
  })
}

const text = fc.string({ unit: anyCharacter })
const item: fc.Arbitrary<McpItem> = fc.record({
  kind: fc.constantFrom('tool' as const, 'prompt' as const, 'resource' as const, 'task' as const),
  name: text,
  target: fc.constantFrom('', 'git'),
})

/** Messages with anything that clients and targets can put into them. */
export const mcpMessage: fc.Arbitrary<McpRecord> = fc
  .record(
    {
      method: text,
      target: fc.constantFrom('', 'git'),
      item: fc.option(item, { nil: null }),
      outcome: fc.constantFrom<(McpOutcome | null)[]>(null, 'ok', 'error', 'denied'),
      errorCode: fc.constantFrom(null, -32602),
      errorMessage: text,
      answeredAt: fc.constantFrom(-1, 1020.4),
    },
    { requiredKeys: [] },
  )
  .map(toolCall)
