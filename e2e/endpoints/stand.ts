import { ok } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProgram } from '../../packages/gateway/src/testing/process.ts'
import { ANTHROPIC_KEY, anthropicVendor } from '../../packages/gateway/src/testing/providers/anthropic.ts'
import {
  COHERE_KEY,
  cohereVendor,
  VOYAGE_KEY,
  voyageVendor,
} from '../../packages/gateway/src/testing/providers/endpoints/rerank.ts'
import { GEMINI_KEY, geminiVendor } from '../../packages/gateway/src/testing/providers/gemini.ts'
import { OPENAI_KEY, openaiVendor } from '../../packages/gateway/src/testing/providers/openai.ts'
import type { Vendor } from '../../packages/gateway/src/testing/providers/reply.ts'
import { type FakeProvider, startFakeProvider } from '../../packages/gateway/src/testing/providers/server.ts'
import type { Library } from './call.ts'

/** The vendors, and the built gateway in front of them with keys, budgets and a ledger. */
export interface EndpointStand {
  /** The address and the key of a library's own vendor. */
  vendors: Readonly<Record<Library, { url: string; key: string }>>
  url: string
  /** URL of the admin server. */
  admin: string
  /** Creates a key of the gateway. */
  createKey(name: string, fields?: object): Promise<string>
  /** A GET of the admin API. */
  read(path: string): Promise<unknown>
  /** Lines of the log, in order. */
  lines(): Record<string, unknown>[]
  close(): Promise<void>
}

const VENDORS: Readonly<
  Record<Library, { vendor: () => Vendor; key: string; names: readonly string[]; kind: string }>
> = {
  anthropic: { vendor: anthropicVendor, key: ANTHROPIC_KEY, names: ['claude-*'], kind: 'anthropic' },
  google: { vendor: geminiVendor, key: GEMINI_KEY, names: ['gemini-*'], kind: 'gemini' },
  cohere: { vendor: cohereVendor, key: COHERE_KEY, names: ['rerank-v*'], kind: 'cohere' },
  voyage: { vendor: voyageVendor, key: VOYAGE_KEY, names: ['rerank-2*'], kind: 'openai' },
  openai: { vendor: openaiVendor, key: OPENAI_KEY, names: ['*'], kind: 'openai' },
}
const LIBRARIES = ['anthropic', 'google', 'cohere', 'voyage', 'openai'] as const

/** A token costs a tenth of a cent, so that no sum is rounded. */
const PRICES = {
  table: 'None',
  models: [
    { model: 'gpt-image-*', rates: { input: 1_000, output: 1_000 } },
    { model: 'tts-1', units: { character: 1 } },
    { model: 'whisper-1', units: { second: 1 } },
    { model: 'rerank-v*', units: { search: 1 } },
    { model: 'omni-moderation-*', perCall: 1_000 },
    { model: 'dall-e-2', units: { image: 1 } },
    { model: '*', rates: { input: 1_000, output: 1_000 } },
  ],
}

export async function startEndpointStand(): Promise<EndpointStand> {
  const fakes = new Map<Library, FakeProvider>()
  for (const library of LIBRARIES) fakes.set(library, await startFakeProvider(VENDORS[library].vendor()))
  const fakeOf = (library: Library): FakeProvider => {
    const fake = fakes.get(library)
    ok(fake !== undefined)
    return fake
  }
  const models = LIBRARIES.flatMap((library) =>
    VENDORS[library].names.map((name) => ({
      ...{ name, provider: { [VENDORS[library].kind]: {}, host: '127.0.0.1', port: fakeOf(library).port } },
      policies: { auth: { key: VENDORS[library].key } },
    })),
  )
  const folder = mkdtempSync(join(tmpdir(), 'portico-endpoints-'))
  const file = join(folder, 'gateway.json')
  writeFileSync(file, JSON.stringify(configOf(models)))
  const program = await startProgram({ args: ['-f', file] })
  const vendors = Object.fromEntries(
    LIBRARIES.map((library) => [library, { url: fakeOf(library).url, key: VENDORS[library].key }]),
  ) as EndpointStand['vendors']
  return {
    ...{ vendors, url: `http://127.0.0.1:${program.port()}`, admin: program.admin },
    async createKey(name, fields = {}) {
      const headers = { 'x-portico-same-origin': '1', 'content-type': 'application/json' }
      const body = JSON.stringify({ name, ...fields })
      const answer = await fetch(`${program.admin}/api/keys`, { method: 'POST', headers, body })
      const { secret } = (await answer.json()) as { secret: string }
      return secret
    },
    read: async (path) => (await fetch(`${program.admin}/api/${path}`)).json(),
    lines: () =>
      program
        .stdout()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    async close() {
      await program.stop()
      for (const fake of fakes.values()) await fake.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Google's libraries send their key in a header of their own. */
function configOf(models: readonly object[]): object {
  const route = (name: string, path: string, authentication: object) => ({
    ...{ name, matches: [{ path: { pathPrefix: path } }] },
    policies: { apiKeyAuthentication: { store: {}, ...authentication }, backend: { prices: PRICES } },
    backends: [{ ai: { models } }],
  })
  const routes = [
    route('google', '/v1beta', { location: { header: { name: 'x-goog-api-key' } } }),
    route('all', '/', {}),
  ]
  return {
    config: {
      ...{ stateDir: 'state', workers: 1, keys: {}, ledger: {} },
      logging: { format: 'json', level: 'warn,request=info' },
    },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }],
  }
}
