export const REDACTED = '<redacted>'

/** Where `key` is the name of a resource and not a secret; matched against the end of a path, `*` is any step. */
export const RESOURCE_KEYS: readonly string[] = [
  'binds.*.key',
  'listeners.*.key',
  'routes.*.key',
  'backends.*.key',
  'policies.*.key',
  'policies.*.target.key',
]

/** A copy of plain JSON in which secrets are replaced: by the name of their field, or by what they look like. */
export function redact(value: unknown, visible: readonly string[] = RESOURCE_KEYS): unknown {
  const patterns = visible.map((pattern) => pattern.split('.'))
  return copy(value, [], false)

  function copy(node: unknown, path: readonly string[], secret: boolean): unknown {
    if (typeof node === 'string') return secret ? REDACTED : redactText(node)
    if (typeof node === 'number' || typeof node === 'bigint') return secret ? REDACTED : node
    if (Array.isArray(node)) return node.map((item, i) => copy(item, [...path, String(i)], secret))
    if (typeof node !== 'object' || node === null) return node
    // `{ name: authorization, value: ... }` is how lists of headers are written.
    const named = 'name' in node && typeof node.name === 'string' && isSecretName(node.name)
    return Object.fromEntries(
      Object.entries(node).map(([name, child]) => {
        const childPath = [...path, name]
        const hidden = isSecretName(name) ? !isVisible(childPath) : named && name === 'value'
        // Only the values of a secret name are secret: `authorization` is also the name of a policy.
        return [name, copy(child, childPath, hidden)]
      }),
    )
  }

  function isVisible(path: readonly string[]): boolean {
    return patterns.some((pattern) => {
      const end = path.slice(-pattern.length)
      return end.length === pattern.length && pattern.every((step, i) => step === '*' || step === end[i])
    })
  }
}

const SECRET_NAMES = new Set(['key', 'keys', 'authorization', 'proxyauthorization', 'cookie', 'setcookie'])
const SECRET_ENDINGS = [
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

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[-_.]/g, '')
  return SECRET_NAMES.has(plain) || SECRET_ENDINGS.some((ending) => plain.endsWith(ending))
}

function redactText(value: string): string {
  if (value.includes('PRIVATE KEY-----') || CREDENTIAL.test(value)) return REDACTED
  return value.replace(USER_INFO, `$1${REDACTED}@`)
}

const CREDENTIAL = /^(?:bearer|basic|digest)\s+\S/i
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i
