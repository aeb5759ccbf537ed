import { Variable, withoutAbsent } from '../core/config-yaml.ts'
import type { Field } from '../core/yaml-field.ts'
import { secretOf, variableOf } from './secrets.ts'
import type { Vendor } from './vendors.ts'

/** Fields of a provider of a cloud, in place of a host and a key. */
interface CloudProvider {
  /** The members below the key of the provider. */
  readonly members: object
  /** Null when the key of the entry is used. */
  readonly auth: object | null
  readonly tested: string | null
  readonly env: Readonly<Record<string, string>>
  /** Whether the gateway obtains a token, which tests cannot. */
  readonly needsToken: boolean
}

/** Reads the fields of Azure, Bedrock and Vertex AI; null for other vendors, a text says why it is not possible. */
export function readCloud(params: Field, { provider }: Vendor, model: string): CloudProvider | string | null {
  if (provider === 'azureopenai') return readAzure(params, model)
  if (provider === 'bedrock') return readBedrock(params, model)
  return provider === 'vertexai' ? readVertex(params, model) : null
}

/** The text of a field, or the variable that it names. */
function take(params: Field, ...names: string[]): string | Variable | undefined {
  for (const name of names) {
    const field = params.get(name)
    if (field?.text == null || field.text === '') continue
    field.carried()
    const variable = variableOf(field.text)
    return variable === null ? field.text : new Variable(variable)
  }
  return undefined
}

function envOf(values: readonly unknown[], value: string): Record<string, string> {
  return Object.fromEntries(values.flatMap((each) => (each instanceof Variable ? [[each.name, value]] : [])))
}

function readAzure(params: Field, model: string): CloudProvider | string {
  if (model.includes('*')) return 'the name of an Azure deployment cannot contain *'
  const base = params.get('api_base') ?? params.get('base_url')
  if (base?.text == null)
    return 'the entry has no api_base, and LiteLLM reads AZURE_API_BASE from its environment; add api_base'
  if (variableOf(base.text) === null) {
    const path = URL.canParse(base.text) ? new URL(base.text) : null
    if (path === null) return 'the value is not a URL'
    if (!['', '/', '/openai/v1', '/openai/v1/'].includes(path.pathname) || path.port !== '') {
      return 'the address of Azure must be a host without port and path'
    }
  }
  const endpoint = take(params, 'api_base', 'base_url') ?? ''
  const apiVersion = take(params, 'api_version') ?? DEFAULT_AZURE_VERSION
  const host = endpoint instanceof Variable ? AZURE_TEST_HOST : new URL(endpoint).hostname
  return {
    members: { endpoint: endpoint instanceof Variable ? endpoint : host, deploymentName: model, apiVersion },
    ...{ auth: null, tested: `${host}:443`, needsToken: false },
    env: { ...envOf([endpoint], `https://${AZURE_TEST_HOST}/`), ...envOf([apiVersion], DEFAULT_AZURE_VERSION) },
  }
}

const AZURE_TEST_HOST = 'models.openai.azure.com'
const DEFAULT_AZURE_VERSION = '2025-02-01-preview'

function readBedrock(params: Field, model: string): CloudProvider {
  const region = take(params, 'aws_region_name')
  const [access, secret, session] = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'].map((name) => {
    const field = params.get(name)
    const found = field === null ? null : secretOf(field)
    return found === null || field === null
      ? null
      : { field, value: 'env' in found ? { env: found.env } : found.literal }
  })
  const hasKeys = access != null && secret != null
  if (hasKeys) for (const each of [access, secret, session]) each?.field.carried()
  const bearer = params.get('api_key')
  const data = withoutAbsent({ accessKey: access?.value, secretKey: secret?.value, sessionToken: session?.value })
  const variables = [access, secret, session].flatMap((each) =>
    typeof each?.value === 'object' ? [each.value.env] : [],
  )
  return {
    members: withoutAbsent({ region, model: model === '*' ? undefined : model }),
    auth: hasKeys && bearer === null ? { aws: { secretRef: { data } } } : null,
    tested: typeof region === 'string' ? `bedrock-runtime.${region}.amazonaws.com:443` : null,
    env: { ...envOf([region], 'us-east-1'), ...Object.fromEntries(variables.map((name) => [name, 'test-key'])) },
    needsToken: !hasKeys || bearer !== null,
  }
}

function readVertex(params: Field, model: string): CloudProvider | string {
  const projectId = take(params, 'vertex_project', 'vertex_ai_project')
  if (projectId === undefined)
    return 'the entry has no vertex_project, and LiteLLM reads the project from its credentials; add vertex_project'
  const region = take(params, 'vertex_location', 'vertex_ai_location') ?? 'us-central1'
  const credentials = params.get('vertex_credentials') ?? params.get('vertex_ai_credentials')
  return {
    members: withoutAbsent({ projectId, region, model: model === '*' ? undefined : model }),
    ...{ auth: credentialsOf(credentials), tested: null, needsToken: true },
    env: { ...envOf([projectId], 'test-project'), ...envOf([region], 'us-central1'), ...credentialEnv(credentials) },
  }
}

/** Credentials that no server accepts. */
function credentialEnv(field: Field | null): Record<string, string> {
  const variable = field?.text == null ? null : variableOf(field.text)
  const user = { type: 'authorized_user', client_id: 'test', client_secret: 'test', refresh_token: 'test' }
  return variable === null ? {} : { [variable]: JSON.stringify(user) }
}

function credentialsOf(field: Field | null): object | null {
  if (field?.text == null) return null
  const variable = variableOf(field.text)
  if (variable !== null) {
    field.changed(`${variable} must contain the credentials as JSON, not a path`)
    return { gcp: { secretRef: { env: variable } } }
  }
  if (field.text.trimStart().startsWith('{')) {
    field.notCarried(
      'the credentials are in plain text; write them to a file, and name the file in auth.gcp.secretRef.file',
    )
    return null
  }
  field.carried()
  return { gcp: { secretRef: { file: field.text } } }
}
