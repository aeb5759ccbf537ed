import { list } from '../kit.ts'
import { enumeration, string } from './values.ts'

/** TLS settings, alike on both sides of the gateway. */

export function alpnProtocols() {
  return list(string({ min: 1, max: 64 }).describe('A protocol name.'), { min: 1, max: 16 })
}

export function keyExchangeGroups() {
  const group = enumeration(['X25519', 'P-256', 'P-384', 'X25519_MLKEM768'])
  return list(group.describe('A key exchange group.'), { min: 1, max: 4 })
}

export function tlsVersion() {
  return enumeration(['1.2', '1.3'])
}

/** Whether clients must show a certificate. */
export function clientCertificates() {
  return enumeration(['Require', 'Request'])
}
