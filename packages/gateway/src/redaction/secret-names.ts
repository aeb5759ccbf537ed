/** The text that stands for a redacted value. */
export const REDACTED = '<redacted>'

/** `secretRef` holds the content of the file that it names. */
const SECRET_NAMES = new Set(['key', 'keys', 'cookie', 'setcookie', 'hash', 'keyhash', 'secretref', 'mcpsessionid'])
const SECRET_ENDINGS = [
  'authorization',
  'password',
  'passwd',
  'passphrase',
  'secret',
  'token',
  'apikey',
  'privatekey',
  'secretkey',
  'accesskey',
  'sessionkey',
  'credential',
  'credentials',
]

/** Whether a field, header or parameter of that name holds something that must not be shown. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return SECRET_NAMES.has(plain) || SECRET_ENDINGS.some((ending) => plain.endsWith(ending))
}

/** Headers also end in `-key`, such as `x-functions-key`; fields of the config have no dashes. */
export function isSecretHeader(name: string): boolean {
  return isSecretName(name) || (/-key$/i.test(name) && !PLAIN_KEY.test(name))
}

const PLAIN_KEY = /^(?:sec-websocket|(?:x-)?idempotency|surrogate|(?:x-)?cache)-key$/i

/**
 * Whether a name could be that of a secret, by a broad guess: for pages, which then keep what a person typed out of their
 * address.
 */
export function mayBeSecretName(name: string): boolean {
  return BROAD_GUESS.test(name)
}

const BROAD_GUESS = /auth|cookie|token|key|secret|passw|credential|session|signature/i
