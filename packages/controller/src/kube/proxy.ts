import { BlockList, isIP, isIPv6 } from 'node:net'

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the proxy for a server, as kubectl does: that of the kubeconfig, or of the environment. */
export function proxyFor(server: string, own: string | undefined, env: Environment): string | undefined {
  if (own !== undefined && own !== '') return checkProxyUrl(own, 'proxy-url of the kubeconfig')
  const { protocol, hostname, port } = new URL(server)
  const isTls = protocol === 'https:'
  const name = isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const found = env[name] || env[name.toLowerCase()]
  if (!found) return undefined
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const exceptions = env['NO_PROXY'] || env['no_proxy'] || ''
  if (isLoopback(host) || isExcepted(exceptions, host, port || (isTls ? '443' : '80'))) return undefined
  return checkProxyUrl(found, name)
}

/** Checks the URL of a proxy. Errors do not contain the URL, because it may contain a password. */
function checkProxyUrl(text: string, where: string): string {
  const url = text.includes('://') ? text : `http://${text}`
  if (!URL.canParse(url)) throw new Error(`${where} is not a URL`)
  const { protocol, hostname } = new URL(url)
  if (!PROTOCOLS.includes(protocol))
    throw new Error(`${where}: found ${protocol}//${hostname}, expected a proxy that speaks http, https or socks5`)
  return url
}

const PROTOCOLS = ['http:', 'https:', 'socks5:', 'socks5h:']

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function isExcepted(exceptions: string, host: string, port: string): boolean {
  return exceptions
    .split(',')
    .map((text) => text.trim().toLowerCase())
    .filter((text) => text !== '')
    .some((text) => text === '*' || isIn(text, host) || isNamed(text, host, port))
}

/** Whether the host is in a CIDR range. */
function isIn(text: string, host: string): boolean {
  const [, address = '', bits = ''] = /^(.+)\/(\d+)$/.exec(text) ?? []
  if (isIP(address) === 0 || isIP(host) !== isIP(address)) return false
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  if (Number(bits) > (family === 'ipv6' ? 128 : 32)) return false
  const range = new BlockList()
  range.addSubnet(address, Number(bits), family)
  return range.check(host, family)
}

/**
 * Whether an entry of NO_PROXY matches: an address or a domain, with an optional port. A domain includes its subdomains;
 * with a leading dot, only those.
 */
function isNamed(text: string, host: string, port: string): boolean {
  if (isIP(text) !== 0) return text === host
  const [, address, name = '', only] = /^(?:\[([^\]]+)\]|\*?([^:[]+))(?::(\d+))?$/.exec(text) ?? []
  if (only !== undefined && only !== port) return false
  if (address !== undefined) return address === host
  if (name === '' || isIP(host) !== 0) return name === host
  return host === name || host.endsWith(name.startsWith('.') ? name : `.${name}`)
}
