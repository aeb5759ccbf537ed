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

/** An external processor that reads headers and changes nothing. */
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
      stream.write(isAboutResponse(received.subarray(PREFIX, end)) ? RESPONSE_MAY_PASS : REQUEST_MAY_PASS)
      received = received.subarray(end)
    }
  })
}

const REQUEST_MAY_PASS = framed([0x0a, 0])
const RESPONSE_MAY_PASS = framed([0x12, 0])

/** Whether field 3 comes before field 2; both are messages, as are all fields before them. */
function isAboutResponse(message) {
  let at = 0
  while (at < message.length) {
    const tag = message[at++] ?? 0
    if (tag === 0x12) return false
    if (tag === 0x1a) return true
    let [length, shift] = [0, 0]
    do length |= ((message[at] ?? 0) & 0x7f) << shift
    while (((shift += 7), (message[at++] ?? 0) & 0x80))
    if ((tag & 7) === 2) at += length
  }
  return false
}

function framed(message) {
  const bytes = Buffer.alloc(5 + message.length)
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, 5)
  return bytes
}
