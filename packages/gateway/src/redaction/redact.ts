import { isSecretName, REDACTED } from './secret-names.ts'

/** Config paths at which `key` is the name of a resource, not a secret. They match the end of a path; `*` is any step. */
export const RESOURCE_KEYS: readonly string[] = [
  'binds.*.key',
  'listeners.*.key',
  'routes.*.key',
  'backends.*.key',
  'target.groups.*.*.key',
  'policies.*.key',
  'policies.*.target.key',
]

/** Config paths of `key` fields that hold an expression, not a secret: rate limit keys and authorization cache keys. */
export const EXPRESSION_KEYS: readonly string[] = ['local.*.key', 'cache.key']

const CONFIG_KEYS: readonly string[] = [...RESOURCE_KEYS, ...EXPRESSION_KEYS]

/** Config paths of secret values whatever the header name, because vendors choose their own names for key headers. */
const SECRET_PATHS = ['otlp.headers.*.value', 'tracing.headers.*.value'].map((place) => place.split('.'))

/**
 * Returns a copy of plain JSON with redacted secrets. A secret is found by the name of its field, header or query
 * parameter, or by its format.
 */
export function redact(value: unknown, visible = CONFIG_KEYS, isSecret = isSecretName): unknown {
  const patterns = visible.map((pattern) => pattern.split('.'))
  return copy(value, [], false)

  function copy(node: unknown, path: readonly string[], secret: boolean): unknown {
    if (typeof node === 'string') return secret ? REDACTED : redactText(node, isSecret)
    if (typeof node === 'number') return secret ? REDACTED : node
    // JSON has no other way to say it.
    if (typeof node === 'bigint') return secret ? REDACTED : String(node)
    if (Array.isArray(node)) return node.map((item, i) => copy(item, [...path, String(i)], secret))
    if (typeof node !== 'object' || node === null) return node
    // `{ name: authorization, value: ... }` is how lists of headers are written.
    const named = 'name' in node && typeof node.name === 'string' && isSecret(node.name)
    return Object.fromEntries(
      Object.entries(node).map(([name, child]) => {
        const childPath = [...path, name]
        const hidden = isSecret(name)
          ? !endsLike(childPath, patterns)
          : (named && name === 'value') || endsLike(childPath, SECRET_PATHS)
        // Only the values of a secret name are secret: `authorization` is also the name of a policy.
        return [name, copy(child, childPath, hidden)]
      }),
    )
  }
}

/** Whether a path ends in one of these ways. */
function endsLike(path: readonly string[], patterns: readonly (readonly string[])[]): boolean {
  return patterns.some((pattern) => {
    const end = path.slice(-pattern.length)
    return end.length === pattern.length && pattern.every((step, i) => step === '*' || step === end[i])
  })
}

function redactText(value: string, isSecret: (name: string) => boolean): string {
  if (value.includes('PRIVATE KEY-----') || CREDENTIAL.test(value)) return REDACTED
  const plain = value
    .replace(USER_INFO, `$1${REDACTED}@`)
    .replaceAll(JWT, REDACTED)
    .replaceAll(KEY_PROTOCOL, `$1${REDACTED}`)
    .replace(PASSWORD_LINE, `$1${REDACTED}`)
  return redactParameters(plain, isSecret)
}

/** A challenge has the same first word, but is for everyone. */
const CREDENTIAL = /^(?:bearer|basic|digest)\s+(?!(?:realm|error|scope|charset|resource_metadata)\s*=)\S/i
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i
const JWT = /(?<![\w-])eyJ[\w-]+\.eyJ[\w-]*\.[\w-]*/g
/** Browsers cannot set headers on a WebSocket, so keys come as a protocol: `<vendor>-api-key.<key>`. */
const KEY_PROTOCOL = /(api-key\.)[^\s,]+/gi
/** As `htpasswd` prints it: whose it is stays. */
const PASSWORD_LINE = /^([^:\s]{1,255}:)(?:\$(?:2[aby]|apr1|[156])\$|\{SHA\})\S+$/

function redactParameters(text: string, isSecret: (name: string) => boolean): string {
  let copied = ''
  let from = 0
  for (const { index, 0: start, 1: name = '' } of text.matchAll(PARAMETER)) {
    if (index < from || !isSecretParameter(name, isSecret)) continue
    const value = index + start.length
    copied += text.slice(from, value) + REDACTED
    const length = text.slice(value).search(PARAMETER_END)
    from = length === -1 ? text.length : value + length
  }
  return copied + text.slice(from)
}

/** In a query, a fragment, or behind a semicolon in a path; in a URL that is a parameter itself they are encoded. */
const PARAMETER = /(?:[?&;#]|%(?:3f|26|3b|23))((?:(?!%(?:3f|26|3b|23|3d))[^=?&;#\s])+)(?:=|%3d)/gi
const PARAMETER_END = /[&;#\s]|%(?:26|3b|23)/i

/** Parameters that grant something, where a field of that name does not. */
const SECRET_PARAMETERS = new Set(['code', 'sig', 'auth', 'jwt', 'assertion', 'sessionid', 'jsessionid', 'sid'])

/** Returns whether the parameter of a URL contains a secret, by its name. */
export function isSecretParameter(name: string, isSecret: (name: string) => boolean): boolean {
  const decoded = decode(name)
  const plain = decoded.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return isSecret(decoded) || SECRET_PARAMETERS.has(plain) || plain.endsWith('signature')
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
