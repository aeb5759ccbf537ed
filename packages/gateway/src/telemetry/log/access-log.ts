import type { AccessRecord } from './access-record.ts'
import { editedJsonLine, editedTextLine, type LineChanges } from './edited-line.ts'
import type { Logger, LogFormat } from './logger.ts'
import { mcpJson, mcpText } from './mcp-fields.ts'
import { modelJson, modelText } from './model-fields.ts'
import { quoted, textValue } from './quote.ts'
import { createTimestamp } from '../wall-time.ts'

export interface AccessLogOptions {
  format: LogFormat
  /** Gets one whole line with its line feed. */
  write: (line: string) => void
  /** The log whose level turns access lines on and off. */
  log: Pick<Logger, 'enabled'>
  /** `namespace/name` of the gateway. */
  gateway: string
  now?: () => number
}

/** Writes one line; `edit` is asked only when there will be one, and may still refuse it with null. */
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
  if (r.error !== null) line += ',"error":' + quoted(r.error)
  if (r.reason !== 'Upstream') line += ',"reason":' + quoted(r.reason)
  return line + ',"duration":"' + Math.round(r.durationMs) + 'ms"}\n'
}
