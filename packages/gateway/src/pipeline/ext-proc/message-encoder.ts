import { ProcessingRequest } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import type { MessageContext, ProcessorMessage, RequestPart } from './messages.ts'
import { bodyModeNumber, type Modes } from './modes.ts'

/**
 * Encodes a message as a ProcessingRequest with the prefix of gRPC, in one buffer of the right size. The generated
 * encoder needs an object and a buffer for each header, which cost more than the rest of a message.
 */
export function encodeMessage({ part, context, modes, isObserved }: ProcessorMessage): Buffer {
  const beside = context === null ? NOTHING : contextBytes(context)
  const config = modes === null ? NOTHING : configBytes(modes)
  const isBody = part.kind === 'body'
  const list = isBody ? part.body.length : listLength(part.fields)
  const content = (isBody && list === 0 ? 0 : spanLength(list)) + (part.endOfStream ? FLAG : 0)
  const length = spanLength(content) + beside.length + (isObserved ? FLAG : 0) + config.length
  const bytes = Buffer.allocUnsafe(PREFIX + length)
  bytes[0] = 0
  bytes.writeUInt32BE(length, 1)
  let at = writeHead(bytes, PREFIX, FIELDS[part.name][part.kind], content)
  if (!isBody) at = writeList(bytes, writeHead(bytes, at, 1, list), part.fields)
  else if (list > 0) {
    at = writeHead(bytes, at, 1, list)
    at += part.body.copy(bytes, at)
  }
  if (part.endOfStream) at = writeFlag(bytes, at, isBody ? 2 : 3)
  bytes.set(beside, at)
  at += beside.length
  if (isObserved) at = writeFlag(bytes, at, 10)
  bytes.set(config, at)
  return bytes
}

/** The numbers of the fields of a ProcessingRequest. */
const FIELDS: Readonly<Record<RequestPart['name'], Readonly<Record<RequestPart['kind'], number>>>> = {
  request: { headers: 2, body: 4, trailers: 6 },
  response: { headers: 3, body: 5, trailers: 7 },
}

function contextBytes(context: MessageContext): Uint8Array {
  const { attributes, metadataContext } = context
  if (attributes.size === 0 && metadataContext === undefined) return NOTHING
  const rest = { request: undefined, observabilityMode: false, protocolConfig: undefined }
  return (context.encoded ??= ProcessingRequest.encode({ ...rest, attributes, metadataContext }).finish())
}

/** Returns the `protocol_config` of the modes; each pair of modes is encoded once. */
function configBytes({ request, response }: Modes): Uint8Array {
  const [first, second] = [bodyModeNumber(request.body), bodyModeNumber(response.body)]
  return (configs[first * 8 + second] ??= encodedConfig(first, second))
}

function encodedConfig(requestBodyMode: 0 | 1 | 2 | 3 | 4, responseBodyMode: 0 | 1 | 2 | 3 | 4): Uint8Array {
  const rest = { request: undefined, attributes: new Map(), metadataContext: undefined, observabilityMode: false }
  const protocolConfig = { requestBodyMode, responseBodyMode, sendBodyWithoutWaitingForHeaderResponse: false }
  return ProcessingRequest.encode({ ...rest, protocolConfig }).finish()
}

const configs: Uint8Array[] = []

// Headers: a HeaderMap of HeaderValues, each with its name and its value as bytes.

function listLength(fields: readonly string[]): number {
  let length = 0
  for (let i = 0; i < fields.length; i += 2) length += spanLength(fieldLength(fields[i] ?? '', fields[i + 1] ?? ''))
  return length
}

function fieldLength(name: string, value: string): number {
  return spanLength(name.length) + (value === '' ? 0 : spanLength(value.length))
}

function writeList(bytes: Buffer, start: number, fields: readonly string[]): number {
  let at = start
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? ''
    const value = fields[i + 1] ?? ''
    at = writeName(bytes, writeHead(bytes, writeHead(bytes, at, 1, fieldLength(name, value)), 1, name.length), name)
    if (value !== '') at = writeValue(bytes, writeHead(bytes, at, 3, value.length), value)
  }
  return at
}

/** Writes a header name, which is ASCII, in lower case. */
function writeName(bytes: Buffer, at: number, name: string): number {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    bytes[at + i] = code >= 65 && code <= 90 ? code | 32 : code
  }
  return at + name.length
}

/** Writes a header value, which has one character code per byte. */
function writeValue(bytes: Buffer, at: number, value: string): number {
  if (value.length > LONG) return at + bytes.write(value, at, 'latin1')
  for (let i = 0; i < value.length; i++) bytes[at + i] = value.charCodeAt(i)
  return at + value.length
}

// Fields of protocol buffers.

/** The length of a field with a content of this length. */
function spanLength(length: number): number {
  return 1 + (length < 128 ? 1 : Math.ceil((32 - Math.clz32(length)) / 7)) + length
}

/** Writes the head of a field whose content follows. */
function writeHead(bytes: Buffer, start: number, field: number, length: number): number {
  let at = start
  bytes[at++] = (field << 3) | 2
  let rest = length
  for (; rest > 127; rest >>>= 7) bytes[at++] = (rest & 127) | 128
  bytes[at++] = rest
  return at
}

function writeFlag(bytes: Buffer, at: number, field: number): number {
  bytes[at] = field << 3
  bytes[at + 1] = 1
  return at + FLAG
}

const NOTHING = new Uint8Array(0)
/** Bytes of the flag and the length before each message of gRPC. */
const PREFIX = 5
/** Bytes of a field that is true. */
const FLAG = 2
/** From this length on, a call of native code is faster than a loop. */
const LONG = 48
