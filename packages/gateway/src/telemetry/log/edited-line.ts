import type { AccessRecord } from './access-record.ts'
import { mcpFields } from './mcp-fields.ts'
import { modelFields } from './model-fields.ts'
import { escapeControls, quoted, textValue } from './quote.ts'

/** What a config makes of the line for one record. */
export interface LineChanges {
  /** Fields that lines have by themselves, and that this one lacks; those of added names are replaced anyway. */
  removed: ReadonlySet<string>
  /** Behind the others; of two with one name the later one counts. */
  added: ReadonlyMap<string, LogValue>
}

/** Anything JSON can say. */
export type LogValue = null | boolean | number | string | LogValue[] | { [key: string]: LogValue }

interface LineParts {
  record: AccessRecord
  gateway: string
  time: string
}

export function editedTextLine({ record, gateway, time }: LineParts, changes: LineChanges): string {
  let line = `${time}\tinfo\trequest`
  if (stays('gateway', changes)) line += ` gateway=${textValue(gateway)}`
  for (const [name, read] of recordFields) {
    const value = stays(name, changes) ? read(record) : null
    if (value === null) continue
    // Errors are free text, quoted even where they are one word.
    line += ` ${name}=${name === 'error' ? quoted(String(value)) : textValue(String(value))}`
  }
  for (const [name, value] of changes.added) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    line += ` ${name.includes('=') ? quoted(name) : textValue(name)}=${textValue(cutText(text))}`
  }
  return `${line}\n`
}

export function editedJsonLine({ record, gateway, time }: LineParts, changes: LineChanges): string {
  let line = `{"level":"info","time":"${time}","scope":"request"`
  if (stays('gateway', changes)) line += `,"gateway":${quoted(gateway)}`
  for (const [name, read] of recordFields) {
    const value = stays(name, changes) ? read(record) : null
    if (value !== null) line += `,"${name}":${typeof value === 'string' ? quoted(value) : value}`
  }
  for (const [name, value] of changes.added) line += `,${quoted(name)}:${jsonValue(value)}`
  return `${line}}\n`
}

type Field = readonly [name: string, read: (r: AccessRecord) => string | number | boolean | null]

const firstFields: readonly Field[] = [
  ['listener', (r) => r.listenerName],
  ['route', (r) => r.routeName],
  ['endpoint', (r) => r.endpoint],
  ['src.addr', (r) => r.srcAddr],
  ['http.method', (r) => r.method],
  ['http.host', (r) => r.host],
  ['http.path', (r) => r.target],
  ['http.version', (r) => r.version],
  ['http.status', (r) => (r.status === 0 ? null : r.status)],
  ['grpc.status', (r) => r.grpcStatus],
  ['tls.sni', (r) => (r.host === null ? r.sni : null)],
  ['trace_id', (r) => r.traceContext?.traceId ?? null],
  ['span_id', (r) => r.traceContext?.spanId ?? null],
  ['request.id', (r) => r.requestId],
  ['decision.id', (r) => r.decisionId],
  ['protocol', (r) => r.protocol],
  ['retry.attempt', (r) => (r.retryAttempt === 0 ? null : r.retryAttempt)],
  ['request.bytes', (r) => r.requestBytes],
  ['response.bytes', (r) => r.responseBytes],
]

const lastFields: readonly Field[] = [
  ['error', (r) => r.error],
  ['reason', (r) => (r.reason === 'Upstream' ? null : r.reason)],
  ['duration', (r) => `${Math.round(r.durationMs)}ms`],
]

/** The fields behind `gateway`, in order: the same as in the lines that nothing was changed about. */
export const recordFields: readonly Field[] = [
  ...firstFields,
  ...modelFields.map(([name, read]): Field => [name, (r) => (r.llm === null ? null : read(r.llm, r.startedAt))]),
  ...mcpFields.map(([name, read]): Field => [name, (r) => (r.mcp === null ? null : read(r.mcp))]),
  ...lastFields,
]

/** Those of records that are about neither a model nor MCP, as most are. */
export const plainFields: readonly Field[] = [...firstFields, ...lastFields]

export function isPlain({ llm, mcp }: AccessRecord): boolean {
  return llm === null && mcp === null
}

/** Those that say where in a trace it was. */
export const traceFields: readonly string[] = ['trace_id', 'span_id']

export const lineFields: readonly string[] = ['gateway', ...recordFields.map(([name]) => name)]

function stays(name: string, { removed, added }: LineChanges): boolean {
  return !removed.has(name) && !added.has(name)
}

function jsonValue(value: LogValue): string {
  if (typeof value === 'string') return quoted(cutText(value))
  const json = JSON.stringify(value)
  // Half of a list or a mapping is no JSON; as a text it can be cut.
  return json.length > LONGEST ? quoted(cutText(json)) : escapeControls(json)
}

/** Clients write much of what is logged; a line must not grow with them. */
export function cutText(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

const LONGEST = 4096
