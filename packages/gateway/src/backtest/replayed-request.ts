import { REDACTED } from '../redaction/secret-names.ts'
import type { SimulatedRequest } from '../simulate/outcome.ts'
import type { MissingHeaders } from '../simulate/tracked-headers.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { chatBody } from './chat-body.ts'
import type { StandIn } from './stand-ins.ts'

/** A request built from a record, and what it lacks: headers and a body that the record does not hold. */
export interface Replay {
  readonly request: SimulatedRequest
  readonly missing: MissingHeaders
  /** Whether a stand-in replaces the body, because the record has none. */
  readonly isBodyMissing: boolean
}

/** Returns the request of a record; returns the reason as a string when the request cannot be replayed. */
export function replayOf(record: RequestRecord, standIn: StandIn | null): Replay | string {
  const { method, path, host, version, scheme, sni, status } = record
  if (method === null || path === null || host === null) return 'a connection without HTTP, or a malformed message'
  if (method === 'CONNECT' || status === 101) return 'a change of protocol cannot be replayed'
  if (path.includes('…')) return 'the path was cut'
  const { lines, missing } = headersOf(record)
  const body = bodyOf(record)
  const carried = standIn === null ? null : carry(standIn, { lines, missing, path })
  const target = carried?.path ?? path
  if (target.includes(REDACTED)) return 'the path has a redacted value'
  if (body?.headers !== undefined) lines.push(...body.headers.filter(([name]) => !lines.some(([own]) => own === name)))
  return {
    request: {
      ...{
        port: portOf(record),
        scheme,
        method,
        authority: host,
        target,
        headers: lines,
        trailers: null,
        server: null,
      },
      version: version === 'HTTP/2' ? 'HTTP/2' : 'HTTP/1.1',
      body: body?.bytes ?? Buffer.alloc(record.bytesIn > 0 ? 1 : 0),
      client: addressOf(record.source),
      ...(sni !== null && { sni }),
    },
    missing,
    isBodyMissing: record.bytesIn > 0 && body?.isWhole !== true,
  }
}

/** The port of the listener; null for a record without a listener. */
export function portOf({ keys }: RequestRecord): number | null {
  const port = /^bind\/(?:udp\/)?(\d+)\//.exec(keys.listener ?? '')?.[1]
  return port === undefined ? null : Number(port)
}

type Line = [name: string, value: string]

function headersOf({ requestHeaders }: RequestRecord): {
  lines: Line[]
  missing: MissingHeaders & { names: Set<string> }
} {
  const lines: Line[] = []
  const names = new Set<string>()
  if (requestHeaders === null) return { lines, missing: { others: true, names } }
  for (const [name, value] of Object.entries(requestHeaders)) {
    for (const line of typeof value === 'string' ? [value] : value) {
      const isWhole = !line.includes(REDACTED) && !line.endsWith('…')
      if (!isWhole) names.add(name)
      lines.push([name, isWhole ? line : 'stand-in'])
    }
  }
  return { lines, missing: { others: lines.length >= MOST_HEADERS, names } }
}

/** Puts the stand-in of a credential into the query parameter, cookie or header that held the client's credential. */
function carry(
  { location, text }: StandIn,
  { lines, missing, path }: { lines: Line[]; missing: { names: Set<string> }; path: string },
): { path: string } | null {
  const { header, queryParameter, cookie } = location
  if (queryParameter !== undefined) {
    const pair = `${encodeURIComponent(queryParameter.name)}=`
    return { path: path.replace(pair + REDACTED, () => pair + encodeURIComponent(text)) }
  }
  // A redacted `cookie` header hides all cookies, so a credential in a cookie cannot be put back.
  if (cookie !== undefined || header === undefined) return null
  const name = header.name.toLowerCase()
  const index = lines.findIndex(([own]) => own === name)
  const line: Line = [name, (header.prefix ?? '') + text]
  if (index === -1) lines.push(line)
  else lines[index] = line
  missing.names.delete(name)
  return null
}

interface ReplayedBody {
  readonly bytes: Buffer
  readonly headers?: readonly Line[]
  readonly isWhole: boolean
}

function bodyOf(record: RequestRecord): ReplayedBody | null {
  const { requestBody } = record
  if (requestBody !== null && !requestBody.isCut) {
    const { text, base64 } = requestBody
    if (text !== null && !text.includes(REDACTED)) return { bytes: Buffer.from(text), isWhole: true }
    if (base64 !== null) return { bytes: Buffer.from(base64, 'base64'), isWhole: true }
  }
  const chat = chatBody(record)
  if (chat === null) return null
  return { bytes: Buffer.from(JSON.stringify(chat)), headers: [['content-type', 'application/json']], isWhole: false }
}

function addressOf(source: string | null): { address: string; port: number } {
  const [, bracketed, plain, port = '0'] = /^(?:\[(.*)\]|([^:]*)):(\d+)$/.exec(source ?? '') ?? []
  return { address: bracketed ?? plain ?? '127.0.0.1', port: Number(port) }
}

/** The most headers that a record holds. */
const MOST_HEADERS = 64
