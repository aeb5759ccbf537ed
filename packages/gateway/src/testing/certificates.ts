import { createPrivateKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'

export interface IssuedCertificate {
  /** PEM texts. */
  cert: string
  key: string
}

export interface CertificateRequest {
  commonName?: string
  /** Host names, IP addresses and URIs; none leaves the extension out. */
  names?: readonly string[]
  /** Days from now; negative days are in the past. */
  validFromDays?: number
  validToDays?: number
  /** `weak` is RSA of 1024 bits, which TLS refuses. */
  keyType?: 'ec' | 'rsa' | 'weak'
  /** The key to certify; without it, a new key is created. */
  publicKey?: KeyObject
}

export interface TestAuthority extends IssuedCertificate {
  issue: (request?: CertificateRequest) => IssuedCertificate
}

/** A certificate authority for tests; every certificate it issues serves servers and clients alike. */
export function createAuthority(commonName = 'Test CA'): TestAuthority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const own = encodeCertificate(
    { commonName, issuer: commonName, publicKey: keys.publicKey, isAuthority: true },
    keys.privateKey,
  )
  return {
    cert: own,
    key: pemOf(keys.privateKey),
    issue(request = {}) {
      const { keyType = 'ec' } = request
      const leaf =
        keyType === 'ec'
          ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
          : generateKeyPairSync('rsa', { modulusLength: keyType === 'rsa' ? 2048 : 1024 })
      const fields = {
        commonName: 'test',
        ...request,
        issuer: commonName,
        publicKey: request.publicKey ?? leaf.publicKey,
        isAuthority: false,
      }
      return { cert: encodeCertificate(fields, keys.privateKey), key: pemOf(leaf.privateKey) }
    },
  }
}

interface CertificateFields extends CertificateRequest {
  commonName: string
  issuer: string
  publicKey: KeyObject
  isAuthority: boolean
}

/** X.509 v3, RFC 5280 4.1. */
function encodeCertificate(fields: CertificateFields, signer: KeyObject): string {
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'))
  const extensions = [
    extension('2.5.29.19', sequence(...(fields.isAuthority ? [der(0x01, Buffer.from([0xff]))] : []))),
    extension('2.5.29.15', der(0x03, Buffer.from(fields.isAuthority ? [1, 0x06] : [5, 0xa0]))),
  ]
  if (!fields.isAuthority) {
    extensions.push(extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2'))))
  }
  if (fields.names?.length) extensions.push(extension('2.5.29.17', sequence(...fields.names.map(generalName))))
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // A leading 01 keeps the random serial number positive.
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(12)])),
    algorithm,
    distinguishedName(fields.issuer),
    sequence(time(fields.validFromDays ?? -1), time(fields.validToDays ?? 365)),
    distinguishedName(fields.commonName),
    fields.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', toSign, createPrivateKey(pemOf(signer))))
  const base64 = sequence(toSign, algorithm, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' })
}

function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const length = [body.length >> 8, body.length & 255]
  if (body.length < 128) length.shift()
  else if (body.length < 256) length[0] = 0x81
  else length.unshift(0x82)
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

function sequence(...content: Buffer[]): Buffer {
  return der(0x30, ...content)
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const groups = [value & 127]
  for (let rest = value >> 7; rest > 0; rest >>= 7) groups.unshift((rest & 127) | 128)
  return groups
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x01, Buffer.from([0xff])), der(0x04, value))
}

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid('2.5.4.3'), der(0x0c, Buffer.from(commonName)))))
}

/** GeneralizedTime: YYYYMMDDHHMMSSZ. */
function time(daysFromNow: number): Buffer {
  const date = new Date(Date.now() + daysFromNow * 86_400_000)
  return der(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`))
}

function generalName(name: string): Buffer {
  if (isIP(name)) return der(0x87, addressBytes(name))
  return der(name.includes('://') ? 0x86 : 0x82, Buffer.from(name))
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail ? tail.split(':') : []
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
