import { isObject, type OpenApiDocument, shorten, textOf } from './document.ts'
import type { OpenApiOperation } from './operation.ts'

/** The path of the only server, without the slash at its end; the config says which host serves it. */
export function readBasePath(document: OpenApiDocument): string {
  const { servers } = document.root
  if (servers === undefined || (Array.isArray(servers) && servers.length === 0)) return ''
  if (!Array.isArray(servers) || servers.length > 1) {
    document.fault('more than one of `servers`, and a target has one')
    return ''
  }
  const server = document.object(servers[0], '`servers`')
  const url = server === null ? null : textOf(server.url)
  if (url === null) {
    document.fault('`servers`: no `url`')
    return ''
  }
  const variables = server!.variables
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
    return isObject(variable) ? (textOf(variable.default) ?? whole) : whole
  })
  const path = filled.replace(/^([a-zA-Z][a-zA-Z0-9+.-]*:)?\/\/[^/?#]*/, '').replace(/\/$/, '')
  if (path === '') return ''
  const rooted = path.startsWith('/') ? path : `/${path}`
  if (isFit(rooted)) return rooted
  document.fault(`\`servers\`: the path of ${shorten(url)}`)
  return ''
}

/** A template with its parameters apart from the fixed text; null and a fault where it makes no path. */
export function readPath(
  template: string,
  { document, basePath, place }: { document: OpenApiDocument; basePath: string; place: string },
): OpenApiOperation['path'] | null {
  const pieces = template.split(/\{([^{}]*)\}/)
  const path = pieces.map((piece, index) => (index % 2 === 1 ? { parameter: piece } : encodeFixed(piece)))
  const fixed = path.map((piece) => (typeof piece === 'string' ? piece : 'x')).join('')
  if (!template.startsWith('/') || !isFit(fixed)) {
    document.fault(`${place}: text that is no path`)
    return null
  }
  return [basePath, ...path].filter((piece) => piece !== '')
}

function encodeFixed(text: string): string {
  return text.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent)
}

/** Whether it can stand in a request line, and means there what it says. */
function isFit(path: string): boolean {
  return (
    /^\/([!$&'()*+,\-./0-9:;=@A-Z_a-z~]|%[0-9A-Fa-f]{2})*$/.test(path) &&
    !/(^|\/)(\.|%2e){1,2}(\/|$)|%(2f|5c|0)/i.test(path)
  )
}
