/** The config's names of cipher suites, in our order of preference, and OpenSSL's names. */
export const cipherByName = {
  TLS13_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS13_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS13_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
} as const

export const groupByName = {
  X25519_MLKEM768: 'X25519MLKEM768',
  X25519: 'X25519',
  'P-256': 'P-256',
  'P-384': 'P-384',
} as const

export const versionByName = { '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' } as const

export type CipherSuiteName = keyof typeof cipherByName
export type KeyExchangeGroupName = keyof typeof groupByName
export type TlsVersionName = keyof typeof versionByName
