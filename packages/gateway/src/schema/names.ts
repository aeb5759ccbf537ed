import { RE2JS } from 're2js'
import { isCidr, isHost, isIp, parseHostPort, parseHostTarget } from './address.ts'
import type { HostTarget } from './address.ts'
import { Refusal, scalar } from './kit.ts'
import type { JsonObject, Schema } from './kit.ts'
import { string } from './values.ts'

/** Texts with a grammar of their own: hosts, header names, patterns, networks, paths. */

const token = "[A-Za-z0-9!#$%&'*+.^_`|~-]"
const namePattern = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const pathPattern = /^\/[!$&'()*+,\-./0-9:;=@A-Z_a-z~%]*$/
const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'

/** Headers that say how a message is framed on one connection; a rule that touches them would break it. */
const framingHeaders = [
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** The name of an object in the file: a backend, a listener, a route. */
export function objectName() {
  return string(
    { min: 1, max: 63 },
    { pattern: namePattern, expected: 'a name of 1 to 63 letters, digits, `-`, `_` and `.`' },
  )
}

/** A host that clients ask for; lower case comes out. `*.example.com` is accepted where wildcards make sense. */
export function hostname(form: { wildcard: boolean }): Schema<string> {
  const pattern = new RegExp(`^${form.wildcard ? '(\\*\\.)?' : ''}${label}(\\.${label})*$`)
  const insensitive = new RegExp(pattern.source, 'i')
  const kinds = form.wildcard
    ? 'a hostname such as `example.com` or `*.example.com`'
    : 'a hostname such as `example.com`'
  const json = { type: 'string', minLength: 1, maxLength: 253 }
  return textual((text) => (text.length <= 253 && insensitive.test(text) ? text.toLowerCase() : null), {
    type: 'hostname',
    expected: kinds,
    json: { ...json, pattern: bothCases(pattern.source) },
    crd: { ...json, pattern: pattern.source },
  })
}

/** A DNS name or an IP address to connect to. */
export function host(): Schema<string> {
  return textual((text) => (text.length <= 256 && isHost(text) ? text.toLowerCase() : null), {
    type: 'host',
    expected: 'a DNS name or an IP address',
    json: { type: 'string', minLength: 1, maxLength: 256 },
  })
}

/** `name:port`, `[::1]:port` or `unix:/path`, taken apart. */
export function hostTarget(): Schema<HostTarget> {
  return textual(parseHostTarget, {
    type: 'host:port',
    expected: '`host:port`, `[ipv6]:port` or `unix:/path`',
    json: { type: 'string', minLength: 3, maxLength: 512 },
  })
}

/** An address for the gateway's own servers; `off` opens nothing. */
export function listenAddress(): Schema<string> {
  const isAddress = (text: string): boolean => {
    if (text === 'off' || /^unix:\/./.test(text)) return true
    const address = parseHostPort(text)
    return address !== null && (address.host === 'localhost' || isIp(address.host))
  }
  return textual(
    (text) =>
      isAddress(text.toLowerCase()) ? text.replace(/^(off|localhost)\b/i, (word) => word.toLowerCase()) : null,
    {
      type: 'address',
      expected: '`ip:port`, `[ipv6]:port`, `localhost:port`, `unix:/path` or `off`',
      json: { type: 'string', minLength: 3, maxLength: 300 },
    },
  )
}

/** A single IP address. */
export function ipAddress(): Schema<string> {
  return textual((text) => (isIp(text) ? text.toLowerCase() : null), {
    type: 'IP address',
    expected: 'an IP address such as `127.0.0.1` or `::1`',
    json: { type: 'string', minLength: 2, maxLength: 45 },
  })
}

/** A level, and levels by module: `info,upstream=debug`. */
export function logFilter() {
  const level = '(off|error|warn|info|debug|trace)'
  const pattern = new RegExp(`^ *([A-Za-z0-9_.-]+ *= *)?${level} *(, *([A-Za-z0-9_.-]+ *= *)?${level} *)*$`)
  const expected = 'levels (`off`, `error`, `warn`, `info`, `debug`, `trace`) such as `info` or `info,upstream=debug`'
  return string({ min: 1, max: 1_024 }, { pattern, expected })
}

/** Any header name, lower case out. */
export function headerName(): Schema<string> {
  return headerNameLike(`^${token}+$`, [])
}

/** The name of a header to look at; `:method`, `:authority`, `:path` and `:scheme` are the parts of the request line. */
export function readableHeaderName(): Schema<string> {
  return headerNameLike(`^(:(method|authority|path|scheme)|${token}+)$`, [])
}

/** The name of a header that rules may set, add or remove. */
export function editableHeaderName(): Schema<string> {
  return headerNameLike(`^${token}+$`, framingHeaders)
}

/** Text that can stand in a header line. */
export function headerValue() {
  const pattern = /^[\t\x20-\x7e\x80-\xff]*$/
  return string(
    { max: 4_096 },
    { pattern, expected: 'a header value: at most 4096 printable characters, no line breaks' },
  )
}

/** A pattern in RE2 syntax, so that matching takes linear time. */
export function regex(): Schema<string> {
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      if (input.length < 1 || input.length > 1_024) return new Refusal('out_of_range')
      try {
        RE2JS.compile(input)
        return input
      } catch (error) {
        return new Refusal('bad_format', { detail: error instanceof Error ? error.message : String(error) })
      }
    },
    {
      type: 'regex',
      expected: 'a regular expression in RE2 syntax of 1 to 1024 characters',
      json: { type: 'string', minLength: 1, maxLength: 1_024 },
    },
  )
}

export function cidr(): Schema<string> {
  return textual((text) => (isCidr(text) ? text.toLowerCase() : null), {
    type: 'cidr',
    expected: 'an address range such as `10.0.0.0/8` or `fd00::/8`',
    json: { type: 'string', minLength: 2, maxLength: 64 },
  })
}

/** Path of a file, relative to the folder of the config file. */
export function filePath() {
  return string({ min: 1, max: 4_096 }, { pattern: /^[^\0]+$/, expected: 'the path of a file' })
}

/** The name of a backend, or `host:port` for one that has no name. */
export function backendReference(): Schema<string> {
  return textual((text) => (namePattern.test(text) || parseHostTarget(text) !== null ? text : null), {
    type: 'backend',
    expected: 'the name of a backend, or `host:port`',
    json: { type: 'string', minLength: 1, maxLength: 512 },
  })
}

/** `example.com`, `example.com:8443`, `[::1]:8443`; lower case out. */
export function urlAuthority(): Schema<string> {
  return textual(
    (text) => (isHost(text) && !text.includes(':') ? text : hasHostPort(text) ? text : null)?.toLowerCase() ?? null,
    {
      type: 'authority',
      expected: '`host` or `host:port`',
      json: { type: 'string', minLength: 1, maxLength: 262 },
    },
  )
}

/** An absolute path without query; dot segments are refused, as they are in requests. */
export function urlPath(): Schema<string> {
  return textual((text) => (text.length <= 1_024 && pathPattern.test(text) && !hasDotSegment(text) ? text : null), {
    type: 'path',
    expected: 'a path that starts with `/`, of at most 1024 characters, without query, spaces or dot segments',
    json: { type: 'string', minLength: 1, maxLength: 1_024, pattern: pathPattern.source },
  })
}

/** A name as in the `Upgrade` header; lower case out. */
export function protocolToken(): Schema<string> {
  const pattern = new RegExp(`^${token}+(/${token}+)?$`)
  return textual(
    (text) => (text.length <= 64 && pattern.test(text) && text.toLowerCase() !== 'h2c' ? text.toLowerCase() : null),
    {
      type: 'protocol',
      expected: 'a protocol name such as `websocket`, but not `h2c`',
      json: { type: 'string', minLength: 1, maxLength: 64, pattern: pattern.source },
    },
  )
}

function hasHostPort(text: string): boolean {
  return parseHostPort(text) !== null
}

function hasDotSegment(path: string): boolean {
  return path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment))
}

function headerNameLike(form: string, refused: readonly string[]): Schema<string> {
  const pattern = new RegExp(form)
  const json: JsonObject = { type: 'string', minLength: 1, maxLength: 256, pattern: pattern.source }
  const rule = `!(self.lowerAscii() in ['${refused.join("', '")}'])`
  const message = 'headers that frame a message cannot be changed'
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      if (input.length > 256 || !pattern.test(input)) return new Refusal('bad_format')
      const name = input.toLowerCase()
      return refused.includes(name) ? new Refusal('not_allowed', { detail: message }) : name
    },
    {
      type: 'header name',
      expected: 'a header name of 1 to 256 token characters',
      json,
      crd: refused.length === 0 ? json : { ...json, 'x-kubernetes-validations': [{ rule, message }] },
    },
  )
}

function textual<Out>(
  read: (text: string) => Out | null,
  node: { type: string; expected: string; json: JsonObject; crd?: JsonObject },
): Schema<Out> {
  return scalar<Out>((input) => {
    if (typeof input !== 'string') return new Refusal('wrong_type')
    return read(input) ?? new Refusal('bad_format')
  }, node)
}

/** JSON Schema has no flag for letter case. */
function bothCases(pattern: string): string {
  return pattern.replaceAll('a-z0-9', 'A-Za-z0-9')
}
