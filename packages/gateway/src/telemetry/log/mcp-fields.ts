import type { McpRecord } from '../../records/mcp-record.ts'
import { quoted, textValue } from './quote.ts'

/** What a line says of the MCP message behind a request, in order; null is left out. */
export const mcpFields: readonly McpField[] = [
  ['mcp.method.name', ({ method }) => shortened(method)],
  ['mcp.target', ({ target, item }) => shortened(target || (item?.target ?? ''))],
  ['mcp.resource.type', ({ item }) => item?.kind ?? null],
  ['mcp.resource.uri', (facts) => nameOf(facts, 'resource')],
  ['gen_ai.tool.name', (facts) => nameOf(facts, 'tool')],
  ['gen_ai.prompt.name', (facts) => nameOf(facts, 'prompt')],
  ['mcp.task.id', (facts) => nameOf(facts, 'task')],
  ['mcp.session.id', ({ session }) => shortened(session)],
  ['mcp.protocol.version', ({ version }) => shortened(version)],
  ['mcp.outcome', ({ outcome }) => outcome],
  ['mcp.error.code', ({ errorCode }) => errorCode],
  ['mcp.error.message', ({ errorMessage }) => shortened(errorMessage)],
  ['mcp.target.duration', ({ targetMillis }) => (targetMillis === null ? null : `${Math.round(targetMillis)}ms`)],
]

type McpField = readonly [name: string, read: (facts: McpRecord) => string | number | null]

export function mcpText(facts: McpRecord): string {
  let text = ''
  for (const [name, read] of mcpFields) {
    const value = read(facts)
    if (value !== null) text += ` ${name}=${textValue(String(value))}`
  }
  return text
}

export function mcpJson(facts: McpRecord): string {
  let text = ''
  for (const [name, read] of mcpFields) {
    const value = read(facts)
    if (value !== null) text += `,"${name}":${typeof value === 'string' ? quoted(value) : value}`
  }
  return text
}

function nameOf({ item }: McpRecord, kind: string): string | null {
  return item === null || item.kind !== kind ? null : shortened(item.name)
}

/** Clients and targets choose these in a body of any size; a line must not grow with them. */
function shortened(text: string): string | null {
  if (text === '') return null
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

const LONGEST = 256
