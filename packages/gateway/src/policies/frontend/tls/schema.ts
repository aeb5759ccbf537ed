import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import { otherRule } from '../../../schema/rules.ts'
import { alpnProtocols, clientCertificates, keyExchangeGroups, tlsVersion } from '../../../schema/fields/tls-options.ts'
import { duration, enumeration } from '../../../schema/fields/values.ts'

const cipherSuite = enumeration([
  'TLS13_AES_256_GCM_SHA384',
  'TLS13_AES_128_GCM_SHA256',
  'TLS13_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
])

export const tls = definePolicy({
  name: 'tls',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  always: true,
  schema: object(
    {
      handshakeTimeout: duration({ min: '100ms' }).prefault('15s').describe('Longest time of a TLS handshake.'),
      alpnProtocols: alpnProtocols()
        .prefault(['h2', 'http/1.1'])
        .describe('Protocols offered to clients, in order of preference.'),
      minProtocolVersion: tlsVersion().optional().describe('Oldest TLS version accepted; 1.2 when unset.'),
      maxProtocolVersion: tlsVersion().optional().describe('Newest TLS version accepted; 1.3 when unset.'),
      cipherSuites: list(cipherSuite.describe('A cipher suite.'), { min: 1, max: 9 })
        .optional()
        .describe('Cipher suites in order of preference; the secure defaults of Node when unset.'),
      clientCertificates: clientCertificates()
        .optional()
        .describe(
          'On listeners with CA certificates for clients: `Require` (the default) rejects clients without a certificate, `Request` accepts them.',
        ),
      keyExchangeGroups: keyExchangeGroups().optional().describe('Key exchange groups in order of preference.'),
    },
    [
      otherRule(
        'minProtocolVersion must not be above maxProtocolVersion',
        `!(has(self.minProtocolVersion) && has(self.maxProtocolVersion) && self.minProtocolVersion == '1.3' && self.maxProtocolVersion == '1.2')`,
        ({ minProtocolVersion, maxProtocolVersion }) => !(minProtocolVersion === '1.3' && maxProtocolVersion === '1.2'),
      ),
    ],
  ).describe('TLS settings of HTTPS listeners: versions, cipher suites, key exchange groups and ALPN protocols.'),
})
