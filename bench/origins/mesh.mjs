// A mesh around the origin: `node mesh.mjs <folder with ca.crt and ca.key> <port of the CA> <port of HBONE> <port of TLS> <port of the origin>`.
// The CA signs what it is asked to, the workload of HBONE and the port of TLS both pass bytes to the origin.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'

const [dir = '', ...ports] = process.argv.slice(2)
const [caPort, hbonePort, tlsPort, originPort] = ports.map(Number)
const file = (name) => join(dir, name)
const ca = readFileSync(file('ca.crt'), 'utf8')
const DAYS = '2'
const PREFIX = 5
const CERTIFICATE_FIELD = 0x0a
const OPTIONS = { maxConcurrentStreams: 1000, initialWindowSize: 1_048_576 }

/** Signs a request with the names that the request has. */
function sign(csr, name) {
  writeFileSync(file(`${name}.csr`), csr)
  const from = ['-in', file(`${name}.csr`), '-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-days', DAYS]
  const { status, stdout, stderr } = spawnSync('openssl', ['x509', '-req', ...from, '-copy_extensions', 'copyall'])
  if (status !== 0) throw new Error(`the certificate was not signed: ${stderr.toString()}`)
  return stdout.toString()
}

function issue(name, subject) {
  const key = file(`${name}.key`)
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key]
  const { stdout } = spawnSync('openssl', ['req', ...curve, '-subj', '/', '-addext', `subjectAltName=${subject}`])
  return { cert: sign(stdout, name), key: readFileSync(key, 'utf8') }
}

/** A message of gRPC whose first field is this text. */
function textMessage(text) {
  const bytes = Buffer.from(text)
  const lengths = []
  for (let rest = bytes.length; ; rest >>>= 7) {
    lengths.push(rest > 127 ? (rest & 127) | 128 : rest)
    if (rest <= 127) break
  }
  const message = Buffer.concat([Buffer.from([CERTIFICATE_FIELD, ...lengths]), bytes])
  const prefix = Buffer.alloc(PREFIX)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

const local = issue('local', 'DNS:localhost,IP:127.0.0.1')
const workload = issue('workload', 'URI:spiffe://cluster.local/ns/bench/sa/app')

createSecureServer(local)
  .on('stream', (stream) => {
    const chunks = []
    stream.on('error', () => {})
    stream.on('data', (chunk) => chunks.push(chunk))
    stream.on('end', () => {
      const [csr = ''] =
        /-----BEGIN[^]*-----END CERTIFICATE REQUEST-----/.exec(Buffer.concat(chunks).toString('latin1')) ?? []
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(textMessage(sign(csr, 'gateway')))
    })
  })
  .listen(caPort, '127.0.0.1')

createSecureServer({ ...workload, ca, requestCert: true, rejectUnauthorized: true, settings: OPTIONS })
  .on('session', (session) => session.on('error', () => {}))
  .on('stream', (stream) => {
    const backend = connect({ port: originPort, host: '127.0.0.1', noDelay: true }, () => {
      stream.respond({ ':status': 200 })
      stream.pipe(backend).pipe(stream)
    })
    pair(stream, backend)
  })
  .listen(hbonePort, '127.0.0.1', 4096)

createServer({ ...local, noDelay: true }, (socket) => {
  const backend = connect({ port: originPort, host: '127.0.0.1', noDelay: true })
  socket.pipe(backend).pipe(socket)
  pair(socket, backend)
}).listen(tlsPort, '127.0.0.1', 4096)

/** Ends both when one fails. */
function pair(one, other) {
  for (const [each, peer] of [
    [one, other],
    [other, one],
  ]) {
    each.on('error', () => peer.destroy())
    each.on('close', () => peer.destroy())
  }
}
