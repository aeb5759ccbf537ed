import { generateKeyPairSync, sign } from 'node:crypto'
import { bits, boolean, der, integer, objectId, octets, sequence, set } from '@portico/http/der'

/** A private key, and a request for a certificate of its public key; both as PEM. */
interface SigningRequest {
  key: string
  csr: string
}

/** Creates a P-256 key and a certificate signing request for a URI (RFC 2986). */
export function createSigningRequest(uri: string): SigningRequest {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const alternativeName = sequence(der(0x86, Buffer.from(uri, 'latin1')))
  // The subject is empty, so the alternative name is critical (RFC 5280 section 4.2.1.6).
  const extensions = sequence(sequence(objectId('2.5.29.17'), boolean(true), octets(alternativeName)))
  const content = sequence(
    integer(Buffer.of(0)),
    sequence(),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa0, sequence(objectId('1.2.840.113549.1.9.14'), set(extensions))),
  )
  const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))
  const whole = sequence(content, ecdsaWithSha256, bits(sign('sha256', content, privateKey)))
  const lines = whole.toString('base64').replaceAll(/.{1,64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    csr: `-----BEGIN CERTIFICATE REQUEST-----\n${lines}-----END CERTIFICATE REQUEST-----\n`,
  }
}
