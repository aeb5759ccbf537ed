import { isIPv4, isIPv6, SocketAddress } from 'node:net'

export interface ProxyProtocolOptions {
  version: 'V1' | 'V2' | 'All'
  /** Strict requires a header; Optional also accepts connections without a header. */
  mode: 'Strict' | 'Optional'
}

export interface Endpoint {
  address: string
  port: number
}

export type ProxyHeader =
  /** Undecided: call again with more bytes. */
  | { kind: 'more' }
  /** Optional mode, and the bytes are not a header: they belong to the connection. */
  | { kind: 'none' }
  /** The first `length` bytes are the header; null endpoints (LOCAL, UNKNOWN) keep those of the socket. */
  | { kind: 'header'; length: number; source: Endpoint | null; destination: Endpoint | null }
  | { kind: 'refused'; reason: string }

/** Reads the PROXY protocol header at the start of a connection. Pure; `buffer` is everything received so far. */
export function readProxyHeader(buffer: Buffer, options: ProxyProtocolOptions): ProxyHeader {
  const isV1 = startsLike(buffer, signatureV1)
  const isV2 = startsLike(buffer, signatureV2)
  if (isV1 === 'no' && isV2 === 'no') {
    return options.mode === 'Optional' ? { kind: 'none' } : refused('no PROXY header')
  }
  // A header of the other version is refused in Optional mode too, because it must never reach a backend as payload.
  if (isV1 === 'yes') return options.version === 'V2' ? refused('PROXY version 1 is not accepted') : readV1(buffer)
  if (isV2 === 'yes') return options.version === 'V1' ? refused('PROXY version 2 is not accepted') : readV2(buffer)
  return { kind: 'more' }
}

const signatureV1 = Buffer.from('PROXY ')
const signatureV2 = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a])

/** The longest line that the protocol allows, with its CRLF. */
const maxLengthV1 = 107
const fixedLengthV2 = 16
/** Two IPv6 endpoints need 36 bytes; the rest is room for TLVs, without letting a peer make us buffer 64 KiB. */
const maxPayloadV2 = 512

function readV1(buffer: Buffer): ProxyHeader {
  const lineFeed = buffer.subarray(0, maxLengthV1).indexOf(0x0a)
  if (lineFeed === -1) {
    return buffer.length < maxLengthV1 ? { kind: 'more' } : refused('the line of the PROXY header is too long')
  }
  const line = buffer.toString('latin1', signatureV1.length, lineFeed)
  if (line.indexOf('\r') !== line.length - 1) return refused('the PROXY header does not end with CRLF')
  const length = lineFeed + 1
  const [family, ...fields] = line.slice(0, -1).split(' ')
  // The text after UNKNOWN is ignored up to the end of the line.
  if (family === 'UNKNOWN') return { kind: 'header', length, source: null, destination: null }
  if (family !== 'TCP4' && family !== 'TCP6') return refused('the PROXY header names an unknown family')
  const [sourceAddress = '', destinationAddress = '', sourcePort = '', destinationPort = ''] = fields
  const source = endpointFromText(family, sourceAddress, sourcePort)
  const destination = endpointFromText(family, destinationAddress, destinationPort)
  if (fields.length !== 4 || source === null || destination === null) {
    return refused('the PROXY header has malformed addresses or ports')
  }
  return { kind: 'header', length, source, destination }
}

function readV2(buffer: Buffer): ProxyHeader {
  const versionAndCommand = buffer[12]
  const family = buffer[13]
  if (versionAndCommand === undefined) return { kind: 'more' }
  const isLocal = versionAndCommand === 0x20
  if (!isLocal && versionAndCommand !== 0x21) return refused('the PROXY header has an unknown version or command')
  if (family === undefined) return { kind: 'more' }
  // A LOCAL connection is the proxy's own; its family and addresses are ignored.
  const addressLength = isLocal ? 0 : addressLengthByFamily.get(family)
  if (addressLength === undefined) return refused('the PROXY header has a family that is not TCP over IP')
  if (buffer.length < fixedLengthV2) return { kind: 'more' }
  const payload = buffer.readUInt16BE(14)
  if (payload > maxPayloadV2) return refused('the PROXY header is too long')
  if (addressLength > 0 && payload < addressLength * 2 + 4)
    return refused('the PROXY header is too short for its addresses')
  const length = fixedLengthV2 + payload
  if (buffer.length < length) return { kind: 'more' }
  if (addressLength === 0) return { kind: 'header', length, source: null, destination: null }
  const ports = fixedLengthV2 + addressLength * 2
  return {
    kind: 'header',
    length,
    source: { address: addressFromBytes(buffer, fixedLengthV2, addressLength), port: buffer.readUInt16BE(ports) },
    destination: {
      address: addressFromBytes(buffer, fixedLengthV2 + addressLength, addressLength),
      port: buffer.readUInt16BE(ports + 2),
    },
  }
}

/** UNSPEC carries no usable addresses; besides it, only TCP over IPv4 and IPv6 is accepted. */
const addressLengthByFamily = new Map([
  [0x00, 0],
  [0x11, 4],
  [0x21, 16],
])

function startsLike(buffer: Buffer, signature: Buffer): 'yes' | 'no' | 'maybe' {
  const known = Math.min(buffer.length, signature.length)
  if (buffer.compare(signature, 0, known, 0, known) !== 0) return 'no'
  return known === signature.length ? 'yes' : 'maybe'
}

function endpointFromText(family: 'TCP4' | 'TCP6', address: string, port: string): Endpoint | null {
  const isValid = family === 'TCP4' ? isIPv4(address) : isIPv6(address) && !address.includes('%')
  if (!isValid || !/^(0|[1-9][0-9]{0,4})$/.test(port) || Number(port) > 65535) return null
  return { address: family === 'TCP4' ? address : canonicalIPv6(address), port: Number(port) }
}

function addressFromBytes(buffer: Buffer, offset: number, length: number): string {
  if (length === 4) return buffer.subarray(offset, offset + 4).join('.')
  return canonicalIPv6(buffer.toString('hex', offset, offset + 16).replace(/(....)(?!$)/g, '$1:'))
}

/** Returns one spelling per address, so that rules and logs compare equal whatever the sender wrote. */
function canonicalIPv6(address: string): string {
  return new SocketAddress({ address, family: 'ipv6' }).address
}

function refused(reason: string): ProxyHeader {
  return { kind: 'refused', reason }
}
