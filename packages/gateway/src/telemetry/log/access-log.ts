import type { LlmRecord, ProviderAttempt } from '../../records/llm-record.ts'
import type { McpRecord } from '../../records/mcp-record.ts'
import { shadowText } from '../../records/shadow-outcome.ts'
import { quoted, textValue, escapeControls, type Logger, type LogFormat } from './logger.ts'
import type { AccessRecord } from './access-record.ts'
import { createTimestamp } from '../../state/clock.ts'

interface AccessLogOptions {
  format: LogFormat
  /** Gets one whole line with its line feed. */
  write: (line: string) => void
  /** The log whose level turns access lines on and off. */
  log: Pick<Logger, 'enabled'>
  /** `namespace/name` of the gateway. */
  gateway: string
  now?: () => number
}

/** Writes one line. `edit` is called only for requests that are logged, and may return null to drop the line. */
export type AccessLog = (record: AccessRecord, edit?: (() => LineChanges | null) | null) => void

export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { format, write, log, gateway, now = Date.now } = options
  const timestamp = createTimestamp(now)
  const line = format === 'json' ? jsonLine : textLine
  const editedLine = format === 'json' ? editedJsonLine : editedTextLine
  const prefix =
    format === 'json'
      ? `","scope":"request","gateway":${quoted(gateway)}`
      : `\tinfo\trequest gateway=${textValue(gateway)}`
  return (record, edit = null) => {
    if (!log.enabled('info')) return
    if (edit === null) return write(line(record, timestamp(), prefix))
    const changes = edit()
    if (changes === null) return
    const isPlain = changes.removed.size === 0 && changes.added.size === 0
    write(isPlain ? line(record, timestamp(), prefix) : editedLine({ record, gateway, time: timestamp() }, changes))
  }
}

// Both printers are written out by hand: one line is made for every request, and a loop over a table of fields costs twice as much.

function textLine(r: AccessRecord, time: string, prefix: string): string {
  let line = time + prefix
  if (r.listenerName !== null) line += ' listener=' + textValue(r.listenerName)
  if (r.routeName !== null) line += ' route=' + textValue(r.routeName)
  if (r.endpoint !== null) line += ' endpoint=' + textValue(r.endpoint)
  if (r.srcAddr !== null) line += ' src.addr=' + textValue(r.srcAddr)
  if (r.srcIdentity !== null) line += ' src.identity=' + textValue(r.srcIdentity)
  if (r.method !== null) line += ' http.method=' + textValue(r.method)
  if (r.host !== null) line += ' http.host=' + textValue(r.host)
  if (r.target !== null) line += ' http.path=' + textValue(r.target)
  if (r.version !== null) line += ' http.version=' + textValue(r.version)
  if (r.status !== 0) line += ' http.status=' + r.status
  if (r.grpcStatus !== null) line += ' grpc.status=' + r.grpcStatus
  if (r.sni !== null && r.host === null) line += ' tls.sni=' + textValue(r.sni)
  const trace = r.traceContext
  if (trace !== null) line += ' trace_id=' + trace.traceId + ' span_id=' + trace.spanId
  if (r.requestId !== null) line += ' request.id=' + textValue(r.requestId)
  if (r.decisionId !== null) line += ' decision.id=' + r.decisionId
  line += ' protocol=' + textValue(r.protocol)
  if (r.retryAttempt !== 0) line += ' retry.attempt=' + r.retryAttempt
  line += ' request.bytes=' + r.requestBytes + ' response.bytes=' + r.responseBytes
  if (r.llm !== null) line += modelText(r.llm, r.startedAt)
  if (r.mcp !== null) line += mcpText(r.mcp)
  if (r.rehearsal !== null) line += ' rehearsal=' + textValue(r.rehearsal.join())
  if (r.shadows !== null) line += ' shadow=' + textValue(shadowText(r.shadows))
  if (r.error !== null) line += ' error=' + quoted(r.error)
  if (r.reason !== 'Upstream') line += ' reason=' + textValue(r.reason)
  return line + ' duration=' + Math.round(r.durationMs) + 'ms\n'
}

function jsonLine(r: AccessRecord, time: string, prefix: string): string {
  let line = '{"level":"info","time":"' + time + prefix
  if (r.listenerName !== null) line += ',"listener":' + quoted(r.listenerName)
  if (r.routeName !== null) line += ',"route":' + quoted(r.routeName)
  if (r.endpoint !== null) line += ',"endpoint":' + quoted(r.endpoint)
  if (r.srcAddr !== null) line += ',"src.addr":' + quoted(r.srcAddr)
  if (r.srcIdentity !== null) line += ',"src.identity":' + quoted(r.srcIdentity)
  if (r.method !== null) line += ',"http.method":' + quoted(r.method)
  if (r.host !== null) line += ',"http.host":' + quoted(r.host)
  if (r.target !== null) line += ',"http.path":' + quoted(r.target)
  if (r.version !== null) line += ',"http.version":' + quoted(r.version)
  if (r.status !== 0) line += ',"http.status":' + r.status
  if (r.grpcStatus !== null) line += ',"grpc.status":' + r.grpcStatus
  if (r.sni !== null && r.host === null) line += ',"tls.sni":' + quoted(r.sni)
  const trace = r.traceContext
  if (trace !== null) line += ',"trace_id":"' + trace.traceId + '","span_id":"' + trace.spanId + '"'
  if (r.requestId !== null) line += ',"request.id":' + quoted(r.requestId)
  if (r.decisionId !== null) line += ',"decision.id":"' + r.decisionId + '"'
  line += ',"protocol":' + quoted(r.protocol)
  if (r.retryAttempt !== 0) line += ',"retry.attempt":' + r.retryAttempt
  line += ',"request.bytes":' + r.requestBytes + ',"response.bytes":' + r.responseBytes
  if (r.llm !== null) line += modelJson(r.llm, r.startedAt)
  if (r.mcp !== null) line += mcpJson(r.mcp)
  if (r.rehearsal !== null) line += ',"rehearsal":' + quoted(r.rehearsal.join())
  if (r.shadows !== null) line += ',"shadow":' + quoted(shadowText(r.shadows))
  if (r.error !== null) line += ',"error":' + quoted(r.error)
  if (r.reason !== 'Upstream') line += ',"reason":' + quoted(r.reason)
  return line + ',"duration":"' + Math.round(r.durationMs) + 'ms"}\n'
}

/** The value of a field; null leaves the field out. */
type FieldValue = string | number | boolean | null

/** The fields about the model call of a request, in order. */
export const modelFields: readonly (readonly [
  name: string,
  read: (call: LlmRecord, startedAt: number) => FieldValue,
])[] = [
  ['gen_ai.operation.name', (call) => call.operation],
  ['gen_ai.provider.name', (call) => shortened(call.provider)],
  ['gen_ai.request.model', (call) => shortened(call.requestModel)],
  ['gen_ai.response.model', (call) => shortened(call.responseModel)],
  ['gen_ai.usage.input_tokens', ({ usage }) => usage.input ?? null],
  ['gen_ai.usage.output_tokens', ({ usage }) => usage.output ?? null],
  ['gen_ai.usage.cache_read.input_tokens', ({ usage }) => usage.cacheRead ?? null],
  ['gen_ai.usage.cache_creation.input_tokens', ({ usage }) => usage.cacheWrite ?? null],
  ['gen_ai.usage.reasoning_tokens', ({ usage }) => usage.reasoning ?? null],
  ['gen_ai.usage.input_audio_tokens', ({ usage }) => usage.inputAudio ?? null],
  ['gen_ai.usage.output_audio_tokens', ({ usage }) => usage.outputAudio ?? null],
  ['portico.ai.units', (call) => call.unitsText],
  ['gen_ai.usage.estimated', (call) => (call.isEstimated ? true : null)],
  ['portico.ai.cost_usd', (call) => call.costUsd],
  ['portico.ai.cache', ({ cache }) => cache?.status ?? null],
  ['portico.ai.saved_usd', ({ savedNanoDollars }) => (savedNanoDollars === null ? null : savedNanoDollars / 1e9)],
  ['portico.ai.attempts', ({ attempts }) => attemptsText(attempts)],
  ['portico.ai.time_to_first_token', (call, startedAt) => millis(call.timeToFirstToken(startedAt))],
  ['portico.ai.time_per_output_token', (call) => millis(call.timePerOutputToken)],
]

/** The fields about the MCP message of a request, in order. */
const mcpFields: readonly (readonly [name: string, read: (message: McpRecord) => FieldValue])[] = [
  ['mcp.method.name', ({ method }) => shortened(method)],
  ['mcp.target', ({ target, item }) => shortened(target || (item?.target ?? ''))],
  ['mcp.resource.type', ({ item }) => item?.kind ?? null],
  ['mcp.resource.uri', (message) => nameOf(message, 'resource')],
  ['gen_ai.tool.name', (message) => nameOf(message, 'tool')],
  ['gen_ai.prompt.name', (message) => nameOf(message, 'prompt')],
  ['mcp.task.id', (message) => nameOf(message, 'task')],
  ['mcp.session.id', ({ session }) => shortened(session)],
  ['mcp.protocol.version', ({ version }) => shortened(version)],
  ['mcp.outcome', ({ outcome }) => outcome],
  ['mcp.error.code', ({ errorCode }) => errorCode],
  ['mcp.error.message', ({ errorMessage }) => shortened(errorMessage)],
  ['mcp.target.duration', ({ targetMillis }) => (targetMillis === null ? null : `${Math.round(targetMillis)}ms`)],
]

// Loops, unlike the rest of a line: compared with a model call or an MCP message their cost is negligible.

export function modelText(call: LlmRecord, startedAt: number): string {
  let text = ''
  for (const [name, read] of modelFields) text += textField(name, read(call, startedAt))
  return text
}

export function modelJson(call: LlmRecord, startedAt: number): string {
  let text = ''
  for (const [name, read] of modelFields) text += jsonField(name, read(call, startedAt))
  return text
}

export function mcpText(message: McpRecord): string {
  let text = ''
  for (const [name, read] of mcpFields) text += textField(name, read(message))
  return text
}

export function mcpJson(message: McpRecord): string {
  let text = ''
  for (const [name, read] of mcpFields) text += jsonField(name, read(message))
  return text
}

function textField(name: string, value: FieldValue): string {
  return value === null ? '' : ` ${name}=${textValue(String(value))}`
}

function jsonField(name: string, value: FieldValue): string {
  return value === null ? '' : `,"${name}":${typeof value === 'string' ? quoted(value) : value}`
}

/** Cuts a text that a client or a server chose, because a line must not grow with it; null when the text is empty. */
function shortened(text: string): string | null {
  if (text === '') return null
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text
}

const LONGEST_NAME = 256

function nameOf({ item }: McpRecord, kind: string): string | null {
  return item === null || item.kind !== kind ? null : shortened(item.name)
}

/** Formats milliseconds with one decimal place, because a token may take less than a millisecond. */
function millis(time: number | null): string | null {
  return time === null ? null : `${Math.round(time * 10) / 10}ms`
}

/** Formats the attempts as `first:503,second:200`; null for a single attempt. */
function attemptsText(attempts: readonly ProviderAttempt[]): string | null {
  if (attempts.length < 2) return null
  return attempts.map(({ providerName, provider, outcome }) => `${providerName || provider}:${outcome}`).join(',')
}

/** The changes of a config to the line of one record. */
export interface LineChanges {
  /** Default fields to leave out; an added field replaces the default field of its name in any case. */
  removed: ReadonlySet<string>
  /** Fields to add at the end of the line. */
  added: ReadonlyMap<string, LogValue>
}

/** Any JSON value. */
export type LogValue = null | boolean | number | string | LogValue[] | { [key: string]: LogValue }

interface LineParts {
  record: AccessRecord
  gateway: string
  time: string
}

function editedTextLine({ record, gateway, time }: LineParts, changes: LineChanges): string {
  let line = `${time}\tinfo\trequest`
  if (stays('gateway', changes)) line += ` gateway=${textValue(gateway)}`
  for (const [name, read] of recordFields) {
    const value = stays(name, changes) ? read(record) : null
    if (value === null) continue
    // Errors are free text and always quoted, even a single word.
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
  ['src.identity', (r) => r.srcIdentity],
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
  ['rehearsal', (r) => (r.rehearsal === null ? null : r.rehearsal.join())],
  ['shadow', (r) => (r.shadows === null ? null : shadowText(r.shadows))],
  ['error', (r) => r.error],
  ['reason', (r) => (r.reason === 'Upstream' ? null : r.reason)],
  ['duration', (r) => `${Math.round(r.durationMs)}ms`],
]

/** The fields after `gateway`, in the order of unchanged lines. */
export const recordFields: readonly Field[] = [
  ...firstFields,
  ...modelFields.map(([name, read]): Field => [name, (r) => (r.llm === null ? null : read(r.llm, r.startedAt))]),
  ...mcpFields.map(([name, read]): Field => [name, (r) => (r.mcp === null ? null : read(r.mcp))]),
  ...lastFields,
]

/** The fields of records without a model call and an MCP message. */
export const plainFields: readonly Field[] = [...firstFields, ...lastFields]

export function isPlain({ llm, mcp }: AccessRecord): boolean {
  return llm === null && mcp === null
}

/** The fields of the trace context. */
export const traceFields: readonly string[] = ['trace_id', 'span_id']

export const lineFields: readonly string[] = ['gateway', ...recordFields.map(([name]) => name)]

function stays(name: string, { removed, added }: LineChanges): boolean {
  return !removed.has(name) && !added.has(name)
}

function jsonValue(value: LogValue): string {
  if (typeof value === 'string') return quoted(cutText(value))
  const json = JSON.stringify(value)
  // A cut list or mapping would be invalid JSON, so a long value becomes a cut string.
  return json.length > LONGEST_VALUE ? quoted(cutText(json)) : escapeControls(json)
}

/** Cuts a text, because clients choose much of what is logged and lines must stay bounded. */
export function cutText(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
}

const LONGEST_VALUE = 4096
