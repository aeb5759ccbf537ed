import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { hasPlaceholder, templateOf } from '../placeholders.ts'
import type { Variables } from './plugin.ts'

/** A model of Kong's AI plugins, in the form of the gateway's config. */
export interface Model {
  readonly provider: object
  readonly policies: Readonly<Record<string, unknown>>
  /** Default values for request fields that clients may omit, such as `temperature`. */
  readonly defaults: readonly object[]
}

/**
 * Provider names of the gateway by provider names of Kong. A provider that runs on the operator's servers, such as
 * Ollama, needs `upstream_url`.
 */
const PROVIDERS: Readonly<Record<string, string>> = {
  ...{ openai: 'openai', anthropic: 'anthropic', gemini: 'gemini', mistral: 'mistral', cohere: 'cohere' },
  ...{ deepseek: 'deepseek', xai: 'xai', huggingface: 'huggingface', cerebras: 'cerebras' },
  ...{ azure: 'azureopenai', bedrock: 'bedrock', ollama: 'ollama', vllm: 'vllm', llama2: 'openai' },
}
const OWN_SERVERS = ['ollama', 'vllm', 'llama2']
const DEFAULTS = ['temperature', 'top_p', 'top_k', 'max_tokens']

/**
 * Reads `model` and `auth` of a plugin or of one of its targets. Returns the reason as a string when they cannot be
 * imported.
 */
export function readModel(get: (name: string) => Field | null, variables: Variables): Model | string {
  const [model, auth] = [get('model'), get('auth')]
  const [vendor, name, options] = ['provider', 'name', 'options'].map((each) => model?.get(each) ?? null)
  const provider = PROVIDERS[vendor?.text ?? '']
  if (vendor?.text == null || provider === undefined)
    return `the gateway has no provider for ${(vendor?.text ?? 'a model without one').slice(0, 40)}`
  if (JSON.stringify([model?.plain, auth?.plain]).includes('$('))
    return 'the model or credential is a template of the request'
  const server = serverOf(vendor.text, options ?? null)
  if (typeof server === 'string') return server
  const credential = credentialOf(auth, provider, variables)
  if (typeof credential === 'string') return credential
  vendor.carried()
  name?.carried()
  markRest(options ?? null)
  return {
    provider: { [provider]: membersOf(provider, name?.text ?? null, options ?? null), ...server.members },
    policies: withoutAbsent({ auth: credential ?? undefined, tls: server.needsTls ? {} : undefined }),
    defaults: DEFAULTS.flatMap((field) => {
      const found = options?.get(field) ?? null
      found?.carried('the gateway sets the value when the client omits it')
      return found?.number == null ? [] : [{ field, value: found.number }]
    }),
  }
}

function membersOf(provider: string, name: string | null, options: Field | null): object {
  const template = (text: string | null | undefined) => (text == null ? undefined : templateOf(text))
  const take = (key: string): string | null => {
    const field = options?.get(key) ?? null
    field?.carried()
    return field?.text ?? null
  }
  if (provider === 'azureopenai') {
    return withoutAbsent({
      endpoint: template(`${take('azure_instance') ?? ''}.openai.azure.com`),
      deploymentName: template(take('azure_deployment_id') ?? name),
      apiVersion: template(take('azure_api_version')),
    })
  }
  if (provider === 'bedrock') {
    const region = options?.get('bedrock')?.get('aws_region') ?? null
    region?.carried()
    return withoutAbsent({ region: template(region?.text), model: template(name) })
  }
  return withoutAbsent({ model: template(name) })
}

/** Reads the server in `upstream_url`; returns the reason as a string when the gateway cannot call the server. */
function serverOf(vendor: string, options: Field | null): { members: object; needsTls: boolean } | string {
  const url = options?.get('upstream_url') ?? null
  if (vendor === 'azure' && options?.get('azure_instance') == null) return 'the plugin has no azure_instance'
  if (url?.text == null)
    return OWN_SERVERS.includes(vendor) ? 'the plugin has no upstream_url' : { members: {}, needsTls: false }
  if (['azure', 'bedrock', 'gemini', 'cohere', 'huggingface'].includes(vendor))
    return `the gateway cannot change the address of ${vendor}`
  if (hasPlaceholder(url.text) || !URL.canParse(url.text)) return 'upstream_url is not a URL'
  const { protocol, hostname, port, pathname } = new URL(url.text)
  if (!/^https?:$/.test(protocol)) return 'upstream_url is not a URL for HTTP'
  const isTls = protocol === 'https:'
  const number = port === '' ? (isTls ? 443 : 80) : Number(port)
  if (!isTls && number === 443) return 'the gateway cannot send plain text to port 443'
  const path = pathname.replace(/\/(chat\/completions|completions|messages|embeddings|responses)$/, '')
  const isUsual = ['/v1', '/', ''].includes(path) || (vendor === 'ollama' && path.startsWith('/api'))
  if (isUsual) url.carried()
  else url.changed(`the path of provider requests is ${path} followed by the client's path`)
  return {
    needsTls: isTls && number !== 443,
    members: {
      host: hostname.replaceAll(/[[\]]/g, ''),
      ...((!isTls || number !== 443 || OWN_SERVERS.includes(vendor)) && { port: number }),
      ...(!isUsual && { pathPrefix: path }),
    },
  }
}

/** Reads the credential for the provider as an `auth` policy; null when clients send their own key. */
function credentialOf(auth: Field | null, provider: string, variables: Variables): object | string | null {
  if (auth === null) return null
  const fields = ['header_name', 'header_value', 'param_name', 'param_value', 'param_location', 'allow_override'].map(
    (name) => auth.get(name),
  )
  const [header, value, param, secret, place, override] = fields
  if (value?.text == null && secret?.text == null) {
    const own = auth.members.some(([name, field]) => /^(aws|azure|gcp)_/.test(name) && field.text !== null)
    if (own) auth.changed('the gateway uses the identity of the machine: docs/cloud-credentials.md')
    else for (const each of fields) each?.carried()
    return null
  }
  if (override?.isTrue === true) return 'the plugin allows clients to send their own key to the provider'
  if (value?.text == null && place?.text === 'body') return 'the plugin sends the key in request bodies'
  for (const each of fields) each?.carried()
  const at = value?.text == null ? secret : value
  const text = at?.text ?? ''
  const bearer = /^Bearer +/i.exec(text)?.[0] ?? ''
  const key = text.slice(bearer.length)
  const name = header?.text?.toLowerCase() ?? ''
  const usual = USUAL_HEADERS[provider] ?? 'authorization'
  const isUsual = value?.text != null && name === usual && (bearer !== '') === (usual === 'authorization')
  const location =
    value?.text == null
      ? { queryParameter: { name: param?.text ?? 'key' } }
      : { header: { name: name === '' ? 'authorization' : name, ...(bearer !== '' && { prefix: 'Bearer ' }) } }
  const named = variables.ofText(key, 'example-key')
  if (named === null && (hasPlaceholder(key) || !/^[\x21-\x7e]([\x20-\x7e]{0,2046}[\x21-\x7e])?$/.test(key)))
    return 'the key contains characters that a header cannot have'
  if (named !== null) at?.changed(`the value is taken from the environment variable ${named}`)
  else at?.carried('the secret is in plain text; move it to an environment variable (secretRef: { env: … })')
  return {
    ...(named === null ? { key } : { secretRef: { env: named } }),
    ...(!isUsual && { location }),
  }
}

/** Headers in which the gateway sends the key to a provider; `Authorization` for providers that are not listed. */
const USUAL_HEADERS: Readonly<Record<string, string>> = {
  anthropic: 'x-api-key',
  azureopenai: 'api-key',
  gemini: 'x-goog-api-key',
}

function markRest(options: Field | null): void {
  for (const name of ['anthropic_version', 'llama2_format', 'mistral_format'])
    options?.get(name)?.carried('the gateway always uses the format of the provider')
  for (const name of ['input_cost', 'output_cost'])
    options?.get(name)?.notCarried('configure costs in a prices policy: docs/policies/backend-prices.md')
}
