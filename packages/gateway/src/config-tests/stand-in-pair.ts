import { generateKeyPairSync, sign } from 'node:crypto'
import { bits, der, integer, objectId, sequence, set } from '@portico/http/der'

/** Creates a P-256 key and a certificate that it signs itself (RFC 5280), both as PEM. */
export function createStandInPair(): { certificate: string; key: string } {
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
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  }
}
