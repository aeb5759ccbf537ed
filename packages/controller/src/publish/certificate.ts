import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import type { KeyPair } from '../key-pair.ts'
import { bits, boolean, der, integer, objectId, octets, sequence, set, time, utf8 } from '@portico/http/der'

export type { Identity, KeyPair } from '../key-pair.ts'

interface Validity {
  from: Date
  to: Date
}

/** Creates an authority that signs controllers, but no other authority. */
export function createAuthority(name: string, validity: Validity): KeyPair {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = keyId(keys.publicKey)
  const extensions = [
    extension('2.5.29.19', sequence(boolean(true), integer(Buffer.of(0))), 'critical'),
    // Key usage: certificate and CRL signing.
    extension('2.5.29.15', bits(Buffer.of(0b0000_0110), 1), 'critical'),
    extension('2.5.29.14', octets(id)),
    extension('2.5.29.35', sequence(der(0x80, id))),
  ]
  const subject = commonName(name)
  const body = { subject, issuer: subject, validity, publicKey: keys.publicKey, extensions }
  return { cert: signCertificate(body, keys.privateKey), key: pemOf(keys.privateKey) }
}

/** Issues a server certificate for these host names and IP addresses. */
export function issueServing(
  authority: KeyPair,
  { names, name, validity }: { names: readonly string[]; name: string; validity: Validity },
): KeyPair {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = new X509Certificate(authority.cert)
  const extensions = [
    extension('2.5.29.19', sequence(), 'critical'),
    // Key usage: digital signature.
    extension('2.5.29.15', bits(Buffer.of(0b1000_0000), 7), 'critical'),
    // Extended key usage: server for data planes, and client of other controllers.
    extension('2.5.29.37', sequence(objectId('1.3.6.1.5.5.7.3.1'), objectId('1.3.6.1.5.5.7.3.2'))),
    extension('2.5.29.17', sequence(...names.map(generalName))),
    extension('2.5.29.14', octets(keyId(keys.publicKey))),
    extension('2.5.29.35', sequence(der(0x80, keyId(issuer.publicKey)))),
  ]
  // The certificate expires no later than its issuer.
  const to = new Date(Math.min(validity.to.getTime(), Date.parse(issuer.validTo)))
  const body = {
    subject: commonName(name),
    issuer: subjectOf(issuer),
    validity: { from: validity.from, to },
    publicKey: keys.publicKey,
    extensions,
  }
  return { cert: signCertificate(body, createPrivateKey(authority.key)), key: pemOf(keys.privateKey) }
}

interface Body {
  subject: Buffer
  issuer: Buffer
  validity: Validity
  publicKey: KeyObject
  extensions: readonly Buffer[]
}

/** Builds and signs an X.509 v3 certificate, RFC 5280 section 4.1. */
function signCertificate({ subject, issuer, validity, publicKey, extensions }: Body, signer: KeyObject): string {
  const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))
  const content = sequence(
    der(0xa0, integer(Buffer.of(2))),
    // The serial number is positive, random and of fixed length.
    integer(Buffer.concat([Buffer.of(0x40 | ((randomBytes(1)[0] ?? 0) >> 2)), randomBytes(15)])),
    ecdsaWithSha256,
    issuer,
    sequence(time(validity.from), time(validity.to)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const whole = sequence(content, ecdsaWithSha256, bits(sign('sha256', content, signer)))
  const lines = whole.toString('base64').replaceAll(/.{1,64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`
}

function extension(id: string, value: Buffer, critical?: 'critical'): Buffer {
  return sequence(objectId(id), ...(critical === undefined ? [] : [boolean(true)]), octets(value))
}

function commonName(name: string): Buffer {
  return sequence(set(sequence(objectId('2.5.4.3'), utf8(name))))
}

/** The subject of our authorities is a single common name. */
function subjectOf(certificate: X509Certificate): Buffer {
  return commonName(certificate.subject.replace(/^CN=/, ''))
}

/** The key identifier of RFC 5280 section 4.2.1.2, method 1: a hash of the key's bits. */
function keyId(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  return createHash('sha1').update(point).digest()
}

function generalName(name: string): Buffer {
  if (isIP(name) !== 0) return der(0x87, addressBytes(name))
  if (!/^[-a-z0-9.*_]{1,253}$/i.test(name)) throw new Error(`\`${name}\` is not a host name`)
  return der(0x82, Buffer.from(name))
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // The URL has the address in hex groups, also the last two of a mapped IPv4 address.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const missing = 8 - groups(head).length - groups(tail).length
  const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' })
}
