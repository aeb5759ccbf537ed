import { generateKeyPairSync, sign } from 'node:crypto'
import { bits, der, integer, objectId, sequence, set } from '@portico/http/der'

/** The texts in a capsule for a certificate and its private key; a replay creates a pair. */
export const STAND_IN_CERTIFICATE = 'stand-in-certificate'
export const STAND_IN_KEY = 'stand-in-private-key'

/** Returns a value with certificates and private keys where a capsule has the texts for them. */
export function withCertificates(value: unknown): unknown {
  let made: { cert: string; key: string } | null = null
  const replace = (each: unknown): unknown => {
    if (each === STAND_IN_CERTIFICATE) return (made ??= createCertificate()).cert
    if (each === STAND_IN_KEY) return (made ??= createCertificate()).key
    if (Array.isArray(each)) return each.map(replace)
    if (typeof each !== 'object' || each === null) return each
    return Object.fromEntries(Object.entries(each).map(([name, child]) => [name, replace(child)]))
  }
  return replace(value)
}

/** Creates a P-256 key and a certificate that it signs itself (RFC 5280), both as PEM. */
function createCertificate(): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))
  const commonName = sequence(set(sequence(objectId('2.5.4.3'), der(0x0c, Buffer.from('stand-in')))))
  const time = (text: string): Buffer => der(0x18, Buffer.from(text))
  const content = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(Buffer.of(1)),
    ecdsaWithSha256,
    commonName,
    sequence(time('20000101000000Z'), time('99991231235959Z')),
    commonName,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const whole = sequence(content, ecdsaWithSha256, bits(sign('sha256', content, privateKey)))
  const lines = whole.toString('base64').replaceAll(/.{1,64}/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  }
}
