import { literalPart, Template } from '../core/config-yaml.ts'

const EXPRESSIONS: Readonly<Record<string, string>> = {
  ...{
    host: 'request.host',
    'http.request.host': 'request.host',
    method: 'request.method',
    'http.request.method': 'request.method',
  },
  ...{
    path: 'request.path',
    'http.request.uri.path': 'request.path',
    uri: 'request.pathAndQuery',
    'http.request.uri': 'request.pathAndQuery',
  },
  ...{
    scheme: 'request.scheme',
    'http.request.scheme': 'request.scheme',
    hostport: 'request.headers["host"]',
    'http.request.hostport': 'request.headers["host"]',
  },
  ...{
    remote_host: 'source.address',
    'http.request.remote.host': 'source.address',
    client_ip: 'source.address',
    'http.vars.client_ip': 'source.address',
  },
}

/** Whether a text has placeholders such as `{host}`, or environment variables. */
export function hasPlaceholder(text: string): boolean {
  return /\{\$?[\w.$-]+(\.[^}]*)?\}/.test(text)
}

/** Returns a CEL expression for a text with placeholders; null when a placeholder has no counterpart. */
export function textExpression(text: string, isPathKept: boolean): string | null {
  const parts: string[] = []
  let last = 0
  for (const found of text.matchAll(/\{([\w.-]+)\}/g)) {
    const [all, name = ''] = found
    const header = /^(?:header|http\.request\.header)\.([\w-]+)$/.exec(name)?.[1]
    const value =
      header === undefined ? EXPRESSIONS[name] : `default(request.headers[${JSON.stringify(header.toLowerCase())}], "")`
    if (value === undefined || (!isPathKept && /path/i.test(value))) return null
    if (found.index > last) parts.push(JSON.stringify(text.slice(last, found.index)))
    parts.push(value)
    last = found.index + all.length
  }
  if (last < text.length || parts.length === 0) parts.push(JSON.stringify(text.slice(last)))
  return hasPlaceholder(text.replaceAll(/\{[\w.-]+\}/g, '')) ? null : parts.join(' + ')
}

const VARIABLE = /\{(?:\$|env\.)(\w+)\}/g

/** Returns the names of the environment variables in a text. */
export function variablesOf(text: string): string[] {
  return [...text.matchAll(VARIABLE)].map(([, name = '']) => name)
}

/** Returns a template for a text whose only placeholders are environment variables; null for other texts. */
export function templateOf(text: string): Template | null {
  if (hasPlaceholder(text.replaceAll(VARIABLE, ''))) return null
  const parts = text.split(VARIABLE).map((part, index) => (index % 2 === 0 ? literalPart(part) : `\${${part}}`))
  return new Template(parts.join(''))
}
