import type { TestContext } from 'node:test'
import { isObject } from '@portico/http/json'
import { parse } from 'yaml'
import { quickStart } from '../../quick-start/quick-start.ts'
import { useEndpoint, useProcessEnvironment } from '../services/credential-services.ts'
import { startGateway, type TestGateway } from '../gateway.ts'
import { ANTHROPIC_KEY, anthropicVendor } from '../providers/anthropic.ts'
import { AZURE_KEY, azureVendor } from '../providers/azure.ts'
import { BEDROCK_KEYS, BEDROCK_TOKEN, bedrockVendor } from '../providers/bedrock.ts'
import { GEMINI_KEY, geminiVendor } from '../providers/gemini.ts'
import { OPENAI_KEY, openaiEndpoints, openaiFailure, openaiVendor } from '../providers/openai.ts'
import type { Vendor } from '../providers/reply.ts'
import { type FakeProvider, startFakeProvider } from '../providers/server.ts'
import { VERTEX_TOKEN, vertexVendor } from '../providers/vertexai.ts'

/** Runs configs of the docs against fake providers. */

/** The variables that pages ask their readers to set. */
export const KEYS = {
  OPENAI_API_KEY: OPENAI_KEY,
  REDIS_PASSWORD: 'redis-password',
  POSTGRES_PASSWORD: 'postgres-password',
  ANTHROPIC_API_KEY: ANTHROPIC_KEY,
  GEMINI_API_KEY: GEMINI_KEY,
  AZURE_API_KEY: AZURE_KEY,
  AZURE_OPENAI_API_KEY: AZURE_KEY,
  OPENROUTER_API_KEY: 'sk-or-example',
  AWS_BEARER_TOKEN_BEDROCK: BEDROCK_TOKEN,
}

/** An application that Azure knows. */
const AZURE_APPLICATION = {
  AZURE_CLIENT_ID: 'app',
  AZURE_TENANT_ID: 'tenant.example',
  AZURE_CLIENT_SECRET: 'secret',
}

const VENDORS: Record<string, () => Vendor> = {
  openai: openaiVendor,
  azureopenai: azureVendor,
  azure: azureVendor,
  anthropic: anthropicVendor,
  gemini: geminiVendor,
  vertexai: vertexVendor,
  bedrock: bedrockVendor,
}

/** The quick start with keys of all vendors, whose SDKs' variables lead to stand-ins. */
export async function startQuickStart(): Promise<DocsStand & { close(): Promise<void> }> {
  const [openai, anthropic, gemini] = await Promise.all(
    [openaiVendor(), anthropicVendor(), geminiVendor()].map((vendor) => startFakeProvider(vendor)),
  )
  const env = {
    ...KEYS,
    PORT: '0',
    OPENAI_BASE_URL: `${openai!.url}/v1`,
    ANTHROPIC_BASE_URL: anthropic!.url,
    GOOGLE_GEMINI_BASE_URL: gemini!.url,
  }
  const found = quickStart(env)
  if ('problem' in found) throw new Error(found.problem)
  const gateway = await startGateway(found.text, { env })
  const fakes = [openai!, anthropic!, gemini!]
  return {
    gateway,
    fakes,
    async close() {
      await gateway.close()
      await Promise.all(fakes.map((fake) => fake.close()))
    },
  }
}

export interface DocsStand {
  gateway: TestGateway
  fakes: FakeProvider[]
}

/** A gateway with the config of a page, in which every provider is a stand-in; all go away with the test. */
export async function useDocsStand(t: TestContext, yaml: string): Promise<DocsStand> {
  await useCloudCredentials(t)
  const fakes: FakeProvider[] = []
  const config: unknown = parse(yaml)
  for (const provider of providersIn(config)) {
    const name = Object.keys(VENDORS).find((key) => key in provider)
    if (name === undefined) continue
    const fake = await startFakeProvider('host' in provider ? looseVendor() : VENDORS[name]!())
    t.after(() => fake.close())
    fakes.push(fake)
    Object.assign(provider, { host: '127.0.0.1', port: fake.port })
  }
  for (const bind of objectsAt(config, 'binds')) Object.assign(bind, { port: 0 })
  const env = { ...KEYS, ...AZURE_APPLICATION }
  const gateway = await startGateway(JSON.stringify(config), { env, fetch: giveAzureToken })
  t.after(() => gateway.close())
  return { gateway, fakes }
}

/** Whoever can sign in at Azure gets a token that the stand-in takes. */
async function giveAzureToken(): Promise<Response> {
  return Response.json({ access_token: AZURE_KEY, expires_in: 3600, token_type: 'Bearer' })
}

/** Provides the cloud credentials of a machine: AWS keys in variables, and the metadata server of Google. */
async function useCloudCredentials(t: TestContext): Promise<void> {
  const metadata = await useEndpoint(t, (request, response) => {
    const body = request.url.includes('/token') ? { access_token: VERTEX_TOKEN, expires_in: 3599 } : {}
    response.writeHead(200, { 'content-type': 'application/json', 'metadata-flavor': 'Google' })
    response.end(JSON.stringify(body))
  })
  useProcessEnvironment(t, {
    AWS_ACCESS_KEY_ID: BEDROCK_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: BEDROCK_KEYS.secretAccessKey,
    GCE_METADATA_HOST: metadata.host,
    METADATA_SERVER_DETECTION: 'assume-present',
  })
}

/** A server of somebody else's: it asks for no key, and has its own idea of paths. */
function looseVendor(): Vendor {
  const endpoints = openaiEndpoints({})
  return {
    name: 'loose',
    answer: (request, saw) => endpoints(request, request.path.replace(/^\/(?:api\/)?v1\//, ''), saw),
    fail: openaiFailure,
  }
}

/** Every `provider` and every item of `providers`, wherever it stands. */
function providersIn(node: unknown): object[] {
  if (Array.isArray(node)) return node.flatMap(providersIn)
  if (typeof node !== 'object' || node === null) return []
  const own = 'provider' in node && isObject(node.provider) ? [node.provider] : []
  return [...own, ...objectsAt(node, 'providers'), ...Object.values(node).flatMap(providersIn)]
}

function objectsAt(node: unknown, name: string): object[] {
  if (!isObject(node)) return []
  const list: unknown = Object.entries(node).find(([key]) => key === name)?.[1]
  return Array.isArray(list) ? list.filter((item: unknown) => isObject(item)) : []
}
