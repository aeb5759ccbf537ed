import { type CipherGCMTypes, createCipheriv, createHmac } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Server, TLSSocket } from 'node:tls'

/**
 * Makes a server send an alert to a client whose certificate was rejected. The runtime closes such a connection
 * silently, so over TLS 1.3 the alert is created here, with the keys of the connection. Over TLS 1.2 there is no alert:
 * its keys depend on the server's random too, which the runtime does not expose. The runtime still verifies and closes:
 * without an alert, the client is rejected all the same. The returned function sends the alert on a connection that the
 * runtime admits; call it when the handshake ends, before anything else is sent.
 */
export function sendCertificateAlerts(
  server: Server,
  rawSocketOf: (socket: TLSSocket) => Socket,
): (socket: TLSSocket) => void {
  const secrets = new WeakMap<TLSSocket, string>()
  function sendAlert(socket: TLSSocket): void {
    const secret = secrets.get(socket)
    // Declared as an Error, but the runtime stores the code of the failed verification.
    const refusal = socket.authorizationError as unknown as string | null
    if (secret === undefined || !refusal || socket.destroyed) return
    const alert = firstAlert(Buffer.from(secret, 'hex'), socket.getCipher().name, alertOf(refusal))
    if (alert !== null) rawSocketOf(socket).write(alert)
  }
  server.on('keylog', (line, socket) => {
    const secret = /^SERVER_TRAFFIC_SECRET_0 \S+ ([0-9a-f]+)/.exec(line.toString('latin1'))?.[1]
    if (secret === undefined) return
    secrets.set(socket, secret)
    const destroy = socket.destroy.bind(socket)
    socket.destroy = (error) => {
      sendAlert(socket)
      return destroy(error)
    }
    socket.once('secure', () => {
      if (!socket.destroyed) socket.destroy = destroy
      setImmediate(() => secrets.delete(socket))
    })
  })
  return sendAlert
}

/** Returns the alert code for a failed verification (RFC 8446 section 6.2). */
function alertOf(refusal: string): number {
  return ALERTS.get(refusal) ?? (/^(UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/.test(refusal) ? UNKNOWN_CA : BAD_CERTIFICATE)
}

const BAD_CERTIFICATE = 42
const UNKNOWN_CA = 48
const ALERTS: ReadonlyMap<string, number> = new Map([
  ['CERT_REVOKED', 44],
  ['CERT_HAS_EXPIRED', 45],
  ['CERT_NOT_YET_VALID', 45],
])

/**
 * Encodes a fatal alert as the first record under the server's application keys (RFC 8446 section 5.2); null for an
 * unknown cipher.
 */
function firstAlert(secret: Buffer, suite: string, code: number): Buffer | null {
  const cipher = CIPHERS.get(suite)
  if (cipher === undefined) return null
  const { name, keyBytes, hash } = cipher
  const head = Buffer.from([APPLICATION_DATA, 3, 3, 0, 3 + TAG_BYTES])
  const encryption = createCipheriv(
    // All ciphers take the same options; the types have one overload for each kind.
    name as CipherGCMTypes,
    expandLabel(hash, secret, 'key', keyBytes),
    // The first record has the sequence number 0, which leaves the IV unchanged.
    expandLabel(hash, secret, 'iv', 12),
    { authTagLength: TAG_BYTES },
  )
  encryption.setAAD(head, { plaintextLength: 3 })
  const body = Buffer.concat([encryption.update(Buffer.from([FATAL, code, ALERT])), encryption.final()])
  return Buffer.concat([head, body, encryption.getAuthTag()])
}

/** HKDF-Expand-Label (RFC 8446 section 7.1) without a context, for an output of at most one hash. */
function expandLabel(hash: string, secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])])
  return createHmac(hash, secret).update(info).digest().subarray(0, length)
}

const FATAL = 2
const ALERT = 21
const APPLICATION_DATA = 23
const TAG_BYTES = 16

interface RecordCipher {
  name: 'aes-128-gcm' | 'aes-256-gcm' | 'chacha20-poly1305'
  keyBytes: number
  hash: string
}

const CIPHERS: ReadonlyMap<string, RecordCipher> = new Map([
  ['TLS_AES_128_GCM_SHA256', { name: 'aes-128-gcm', keyBytes: 16, hash: 'sha256' }],
  ['TLS_AES_256_GCM_SHA384', { name: 'aes-256-gcm', keyBytes: 32, hash: 'sha384' }],
  ['TLS_CHACHA20_POLY1305_SHA256', { name: 'chacha20-poly1305', keyBytes: 32, hash: 'sha256' }],
])
