import { isObject } from '@portico/http/json'
import type { Json } from '../json.ts'
import { itemsOf, type OpenApiDocument, shorten, stringOrNull } from './document.ts'
import type { OpenApiOperation } from './operation.ts'

/** A server of a document. */
interface OpenApiServer {
  /** Lower case, without a port; null when the URL is only a path. */
  host: string | null
  /** Without a trailing slash. */
  path: string
}

/** Returns the servers with a valid URL; the other servers get a fault. */
export function readServers(servers: Json | undefined, document: OpenApiDocument, where: string): OpenApiServer[] {
  return itemsOf(servers).flatMap((entry) => {
    const server = isObject(entry) ? entry : {}
    const url = stringOrNull(server.url)
    const filled = url === null ? null : fillVariables(url, server.variables)
    const read = filled === null ? null : readServer(filled)
    if (read === null) document.fault(where, `the server ${url === null ? 'without a `url`' : shorten(url)}`)
    return read ?? []
  })
}

/** Returns the server on the host of the target, or the first server. */
export function pickServer(servers: readonly OpenApiServer[], host: string): OpenApiServer | undefined {
  return servers.find((server) => server.host === host.toLowerCase()) ?? servers[0]
}

function fillVariables(url: string, variables: Json | undefined): string {
  return url.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
    return isObject(variable) ? (stringOrNull(variable.default) ?? whole) : whole
  })
}

function readServer(url: string): OpenApiServer | null {
  const [, authority = null, rest = ''] = /^(?:(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?\/\/([^/?#]*))?(.*)$/s.exec(url) ?? []
  const path = rest.replace(/^\.?\/?/, '/').replace(/\/$/, '')
  if (path !== '' && !isFit(path)) return null
  const host = authority?.replace(/^.*@/, '').replace(/:[0-9]*$/, '')
  return { host: host?.toLowerCase() ?? null, path }
}

/** Splits a path template into fixed parts and parameters; returns null, with a fault, when it is not a valid path. */
export function readPath(
  template: string,
  { document, basePath, where }: { document: OpenApiDocument; basePath: string; where: string },
): OpenApiOperation['path'] | null {
  const pieces = template.split(/\{([^{}]+)\}/)
  const path = pieces.map((piece, index) => (index % 2 === 1 ? { parameter: piece } : encodeFixed(piece)))
  const fixed = path.map((piece) => (typeof piece === 'string' ? piece : 'x')).join('')
  if (!template.startsWith('/') || !isFit(fixed)) {
    document.fault(where, whyUnfit(template))
    return null
  }
  return [basePath, ...path].filter((piece) => piece !== '')
}

function whyUnfit(template: string): string {
  const end = /[?#]/.exec(template)?.[0]
  if (!template.startsWith('/')) return 'a path that does not begin with `/`'
  if (end !== undefined)
    return `a path with \`${end}\`, which ends the path of a URL: use \`%${end === '?' ? '3F' : '23'}\` for the character`
  return 'a path with characters or segments that a request cannot have'
}

function encodeFixed(text: string): string {
  return text.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent)
}

/** Returns whether the path can be sent in a request line, and whether servers read it as it is written. */
export function isFit(path: string): boolean {
  return (
    /^\/([!$&'()*+,\-./0-9:;=@A-Z_a-z~]|%[0-9A-Fa-f]{2})*$/.test(path) &&
    !/(^|\/)(\.|%2e){1,2}(\/|$)|%(2f|5c|0)/i.test(path)
  )
}
