import { Template } from '../core/config-yaml.ts'
import { hostPortOf } from '../http/addresses.ts'
import type { Environment } from './environment.ts'
import { hasPlaceholder, templateOf, variablesOf } from './placeholders.ts'

/** An upstream of `reverse_proxy`. */
export interface Upstream {
  /** The upstream's address in the imported config. */
  readonly host: string | Template
  /** The upstream's address in the generated tests. */
  readonly address: string
  readonly isTls: boolean
  readonly isHttp2: boolean
  /** Whether the address is an IP address, a socket or a variable, and so cannot be sent as `Host`. */
  readonly isAddress: boolean
}

/** Reads an upstream's address; returns the reason as a string when the address has no counterpart. */
export function readUpstream(text: string, env: Environment): Upstream | string {
  const [, scheme = '', rest = ''] = /^(?:(https?|h2c|srv|srv\+https):\/\/)?(.*?)\/?$/.exec(text) ?? []
  if (scheme.startsWith('srv')) return 'the gateway reads no SRV records; configure a backend with the name'
  const isTls = scheme === 'https'
  const base = { isTls, isHttp2: scheme === 'h2c' }
  const socket = /^unix\/(?:\/?)(\/[\w./-]+)$/.exec(text)?.[1]
  if (socket !== undefined) return { ...base, host: `unix:${socket}`, address: `unix:${socket}`, isAddress: true }
  if (hasPlaceholder(text)) return variableUpstream(rest, base, env)
  const name = rest.startsWith(':') ? `127.0.0.1${rest}` : rest
  const host = hostPortOf(name, isTls ? 443 : 80)
  if (host === null || rest.includes('/')) return 'the address is not a host with a port'
  return { ...base, host, address: host, isAddress: /^(\[|[\d.]+:\d+$)/.test(host) }
}

/** Reads an upstream with variables: `{$HOST}:8080`, `{$HOST}:{$PORT}`, `app:{$PORT}` or `{$ADDRESS}`. */
function variableUpstream(
  text: string,
  base: { isTls: boolean; isHttp2: boolean },
  env: Environment,
): Upstream | string {
  const found = /^(\{(?:\$|env\.)\w+\}|[a-zA-Z0-9.-]*)(?::(\{(?:\$|env\.)\w+\}|\d{1,5}))?$/.exec(text)
  const template = found === null ? null : templateOf(text)
  if (found === null || template === null) return 'the address has unsupported placeholders'
  const [, name = '', port] = found
  const [nameVariable] = variablesOf(name)
  const [portVariable] = variablesOf(port ?? '')
  const isWhole = nameVariable !== undefined && port === undefined
  const hostText = nameVariable === undefined ? name || '127.0.0.1' : `${slug(nameVariable)}.test`
  const portText = portVariable === undefined ? (port ?? (base.isTls ? '443' : '80')) : '8080'
  if (nameVariable !== undefined) env.use(nameVariable, isWhole ? `${hostText}:${portText}` : hostText)
  if (portVariable !== undefined) env.use(portVariable, portText)
  const host = name === '' ? new Template(`127.0.0.1${template.text}`) : template
  return { ...base, host, address: `${hostText}:${portText}`, isAddress: true }
}

function slug(name: string): string {
  return (
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '') || 'host'
  )
}
