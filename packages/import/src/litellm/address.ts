import { Variable } from '../core/config-yaml.ts'
import { variableOf } from './secrets.ts'
import type { Vendor } from './vendors.ts'

/** The server of a provider; absent members are the vendor's own. */
export interface Address {
  readonly host: string | Variable
  readonly port?: number | Variable
  readonly pathPrefix?: string
  readonly needsTls: boolean
  /** `host:port` in tests. */
  readonly tested: string
  /** The values of variables for tests. */
  readonly env: Readonly<Record<string, string>>
  readonly note: string | null
}

/** Reads `api_base`; a text says why it cannot be moved. */
export function addressOf(text: string, { base, provider }: Vendor): Address | string {
  if (base === null) return `the gateway cannot change the address of ${provider}`
  const variable = variableOf(text)
  if (variable !== null) return ofVariable(variable)
  if (!URL.canParse(text)) return 'the value is not a URL'
  const { protocol, hostname, port, pathname, username, search } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return `the URL has the scheme ${protocol}, expected http or https`
  if (username !== '' || search !== '') return 'the URL contains a credential or a query, which has no counterpart'
  const isTls = protocol === 'https:'
  const number = port === '' ? (isTls ? 443 : 80) : Number(port)
  if (!isTls && number === 443) return 'the gateway cannot send plain text to port 443'
  const path = pathname.replace(/\/+$/, '')
  const host = hostname.replace(/^\[|\]$/g, '')
  const at = hostname.includes(':') ? `[${host}]` : host
  return {
    ...(isTls && number === 443 && !OWN_PORT.has(provider) ? { host } : { host, port: number }),
    ...{ needsTls: isTls && number !== 443, tested: `${at}:${number}`, env: {}, note: null },
    ...(base === 'root' ? ofRoot(path) : ofPrefix(path, OWN_PATH.has(provider))),
  }
}

/** LiteLLM adds the path of the API. */
function ofRoot(path: string): { pathPrefix?: string } {
  return path === '' || path === '/v1' ? {} : { pathPrefix: `${path}/v1` }
}

/** LiteLLM calls the path as it is. */
function ofPrefix(path: string, isUsual: boolean): { pathPrefix?: string } {
  if (path === '/v1' && isUsual) return {}
  return { pathPrefix: path === '' ? '/' : path }
}

/** Providers whose path is `/v1`. */
const OWN_PATH = new Set(['openai', 'vllm', 'lmstudio'])

/** Providers with a usual port other than 443. */
const OWN_PORT = new Set(['lmstudio', 'ollama', 'vllm'])

/** A URL in a variable cannot be split when the gateway starts, so host and port get variables of their own. */
function ofVariable(name: string): Address {
  const [host, port] = [`${name}_HOST`, `${name}_PORT`]
  return {
    ...{ host: new Variable(host), port: new Variable(port), needsTls: false },
    tested: `${TEST_HOST}:8000`,
    env: { [host]: TEST_HOST, [port]: '8000' },
    note: `set ${host} and ${port} instead of the URL in ${name}; the gateway uses TLS on port 443, plain text on other ports, and the path /v1`,
  }
}

const TEST_HOST = 'models.test'
