// gRPC services that respond at once with a fixed message: `node services.mjs <port>`.
import { createServer } from 'node:http2'

/** Framed responses by path; collectors get an empty one. */
const ANSWERS = {
  // The response allows the request.
  '/envoy.service.auth.v3.Authorization/Check': framed([0x1a, 0]),
  // The overall code is OK.
  '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit': framed([0x08, 1]),
}
const NOTHING = framed([])
const PROCESS = '/envoy.service.ext_proc.v3.ExternalProcessor/Process'
const HEAD = { ':status': 200, 'content-type': 'application/grpc' }
const PREFIX = 5

const port = Number(process.argv[2])
const settings = { maxConcurrentStreams: 1000, initialWindowSize: 1_048_576 }
createServer({ settings })
  .on('stream', (stream, headers) => {
    stream.on('error', () => {})
    const path = headers[':path'] ?? ''
    if (path === PROCESS) return converse(stream)
    stream.respond(HEAD, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.on('end', () => stream.end(ANSWERS[path] ?? NOTHING)).resume()
  })
  .listen(port, '127.0.0.1', 4096)

/** An external processor that reads headers and changes nothing; asked for the endpoint of a pool, it picks the first one. */
function converse(stream) {
  let received = Buffer.alloc(0)
  stream.respond(HEAD, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.on('end', () => stream.end())
  stream.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    while (received.length >= PREFIX) {
      const end = PREFIX + received.readUInt32BE(1)
      if (received.length < end) return
      stream.write(answerTo(received.subarray(PREFIX, end)))
      received = received.subarray(end)
    }
  })
}

function answerTo(message) {
  const part = partOf(message)
  return (part === REQUEST_HEADERS ? pickFor(message) : null) ?? (NO_CHANGES[part] ??= framed([...tag(part - 1), 0]))
}

/** Answers without changes, by the part that they answer. */
const NO_CHANGES = []
const REQUEST_HEADERS = 2

/** The field of the part of an exchange that the message is about, from 2 to 7; all fields of messages are messages. */
function partOf(message) {
  let at = 0
  while (at < message.length) {
    const head = message[at++] ?? 0
    const field = head >> 3
    if (field >= REQUEST_HEADERS && field <= 7) return field
    let [length, shift] = [0, 0]
    do length |= ((message[at] ?? 0) & 0x7f) << shift
    while (((shift += 7), (message[at++] ?? 0) & 0x80))
    if ((head & 7) === 2) at += length
  }
  return REQUEST_HEADERS
}

/** The choice of the first member that a pool offers; null when the message offers none. */
function pickFor(message) {
  const [, member] = /envoy\.lb\.subset_hint.*?(127\.0\.0\.1:\d+)/s.exec(message.toString('latin1')) ?? []
  if (member === undefined) return null
  const known = picks.get(member)
  if (known !== undefined) return known
  const name = 'x-gateway-destination-endpoint'
  const header = field(1, field(1, text(1, name), text(3, member)))
  const endpoint = field(1, text(1, name), field(2, text(3, member)))
  const pick = framed([
    ...field(1, field(1, field(2, header))),
    ...field(8, field(1, text(1, 'envoy.lb'), field(2, field(5, endpoint)))),
  ])
  picks.set(member, pick)
  return pick
}

const picks = new Map()

/** A field of a protocol buffer with a message of less than 128 bytes. */
function field(number, ...parts) {
  const bytes = parts.flat()
  return [...tag(number), bytes.length, ...bytes]
}

function text(number, value) {
  return field(number, [...Buffer.from(value)])
}

function tag(number) {
  return [(number << 3) | 2]
}

function framed(message) {
  const bytes = Buffer.alloc(5 + message.length)
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, 5)
  return bytes
}
