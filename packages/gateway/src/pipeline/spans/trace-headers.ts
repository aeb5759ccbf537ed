import { type HeaderBlock, nameList } from '@portico/http'
import type { Id } from '../../telemetry/otlp/id.ts'
import { readTraceparent, SAMPLED, type TraceContext } from '../../telemetry/traceparent.ts'

/** The trace context of the client. */
export interface IncomingTrace extends TraceContext {
  /** The `tracestate` header, forwarded unchanged. */
  tracestate: string
  /** The form of the client's B3 headers, which calls get too; null when the client sent none. */
  b3: B3Form | null
}

/** The form of B3 headers (Zipkin). */
interface B3Form {
  isSingle: boolean
  /** As received: B3 trace ids may have 16 digits. */
  traceId: string
  /** Whether the client set the debug flag, which samples every span. */
  isDebug: boolean
}

/**
 * Reads `traceparent`, or B3 headers if there is no valid `traceparent`. Null when the request may begin a new trace;
 * `refused` when the client has no trace and wants no sampling.
 */
export function readTrace(headers: HeaderBlock): IncomingTrace | 'refused' | null {
  if (!headers.hasOneOf(BEGINNINGS)) return null
  const text = headers.get('traceparent')
  const w3c = text === null || headers.nth('traceparent', 1) !== null ? null : readTraceparent(text)
  const b3 = readB3(headers)
  if (w3c === null) return b3 === null || b3 === 'refused' ? b3 : { ...b3.context, tracestate: '', b3: b3.form }
  // B3 headers of another trace are ignored.
  const isSame = b3 !== null && b3 !== 'refused' && b3.context.traceId === w3c.traceId
  return { ...w3c, tracestate: headers.joined('tracestate') ?? '', b3: isSame ? b3.form : null }
}

/** A request without any of these headers has no trace and no sampling decision. */
const BEGINNINGS = nameList('traceparent', 'b3', 'x-b3-traceid', 'x-b3-sampled')

/** Writes the trace headers of a call; `id` is the span of the call, `parentId` its parent span. */
export function writeTrace(
  headers: HeaderBlock,
  trace: { traceId: string; tracestate: string; b3: B3Form | null },
  { id, parentId }: { id: Id; parentId: Id },
): void {
  const spanId = id.hex
  headers.remove('traceparent')
  headers.addChecked('traceparent', `00-${trace.traceId}-${spanId}-01`)
  // Without a valid `traceparent`, `tracestate` is not valid either.
  if (trace.tracestate === '') headers.remove('tracestate')
  else headers.set('tracestate', trace.tracestate)
  if (trace.b3 === null) return
  const { isSingle, traceId, isDebug } = trace.b3
  if (isSingle) return headers.set('b3', `${traceId}-${spanId}-${isDebug ? 'd' : '1'}-${parentId.hex}`)
  headers.set('x-b3-traceid', traceId)
  headers.set('x-b3-spanid', spanId)
  headers.set('x-b3-parentspanid', parentId.hex)
  if (isDebug) headers.set('x-b3-flags', '1')
  else headers.set('x-b3-sampled', '1')
}

interface B3 {
  context: TraceContext
  form: B3Form
}

function readB3(headers: HeaderBlock): B3 | 'refused' | null {
  const single = headers.get('b3')
  if (single !== null) {
    if (single === '0') return 'refused'
    const [, traceId = '', spanId = '', decision = ''] = SINGLE.exec(single) ?? []
    return b3Of({ traceId, spanId, isDebug: decision === 'd', isRefused: decision === '0' }, true)
  }
  const traceId = headers.get('x-b3-traceid')
  const sampled = headers.get('x-b3-sampled')
  const isRefused = sampled === '0' || sampled === 'false'
  if (traceId === null) return isRefused ? 'refused' : null
  const isDebug = headers.get('x-b3-flags') === '1'
  return b3Of({ traceId, spanId: headers.get('x-b3-spanid') ?? '', isDebug, isRefused }, false)
}

interface B3Parts {
  traceId: string
  spanId: string
  isDebug: boolean
  isRefused: boolean
}

/** Returns the B3 context; an open sampling decision counts as sampled, so the gateway decides. */
function b3Of({ traceId, spanId, isDebug, isRefused }: B3Parts, isSingle: boolean): B3 | null {
  if (!/^([0-9a-f]{16}){1,2}$/i.test(traceId) || !/^[0-9a-f]{16}$/i.test(spanId)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  const flags = isRefused && !isDebug ? 0 : SAMPLED
  return {
    context: { traceId: traceId.toLowerCase().padStart(32, '0'), spanId: spanId.toLowerCase(), flags },
    form: { isSingle, traceId, isDebug },
  }
}

const SINGLE = /^([0-9a-fA-F]+)-([0-9a-fA-F]+)(?:-([01d])(?:-[0-9a-fA-F]{16})?)?$/
