import { checkCompile } from '../../compile/check.ts'
import { irOfText, textOfIr } from '../../ir/ir-text.ts'
import type { Ir } from '../../ir/resources.ts'
import type { Random } from '../../../../http/src/http1/fuzz/random.ts'
import { loadConfig } from '../../sources/file.ts'
import '../all-features.ts'
import { SchemaValues, type Schema } from './schema-value.ts'
import type { Services } from './services.ts'
import { vocabularyOf } from './vocabulary.ts'

interface RandomRoute {
  matches?: unknown
  policies: Record<string, unknown>
  backends: Record<string, unknown>[]
}

export interface RandomConfig {
  backends: readonly object[]
  frontend?: unknown
  policies?: readonly object[]
  binds: readonly object[]
}

const ROUTES = ['binds', '[]', 'listeners', '[]', 'routes', '[]']

/** Makes configs whose policies and backends are random values of the schema, each of them tried before it is kept. */
export class RandomConfigs {
  readonly #random: Random
  readonly #services: Services
  readonly #values: SchemaValues
  readonly #isWanted: (name: string) => boolean
  /** Configs that were put together, and those of them that could run. */
  whole = 0
  running = 0
  /** How often each policy and kind of backend got into a config. */
  readonly seen = new Map<string, number>()

  /** `isWanted` leaves out kinds of backends and policies, by name. */
  constructor(random: Random, schema: Schema, services: Services, isWanted: (name: string) => boolean = () => true) {
    this.#isWanted = isWanted
    this.#random = random
    this.#services = services
    this.#values = new SchemaValues(random, schema, vocabularyOf(services))
  }

  /** A config that can run, or null when the parts that can run alone cannot together. */
  make(): RandomConfig | null {
    const random = this.#random
    const routes: RandomRoute[] = []
    for (let left = 2 + random.below(4); left > 0; left--) {
      const route = this.#route(routes.length)
      if (this.#canRun(this.#around([route]))) routes.push(route)
    }
    const config: RandomConfig = this.#around(routes)
    if (random.chance(40)) {
      const values = this.#block(['frontend'], [], (frontend) => this.#loads({ ...config, frontend }), 2)
      config.frontend = values
    }
    if (random.chance(30)) {
      const listener = { ...this.#listenerOf(config) }
      const policies = this.#block(
        ['binds', '[]', 'listeners', '[]', 'policies'],
        ['directResponse'],
        (block) => this.#loads(this.#around(routes, block)),
        2,
      )
      config.binds = [{ port: 0, listeners: [{ ...listener, policies }] }]
    }
    this.whole++
    if (!this.#canRun(config)) return null
    this.running++
    return config
  }

  #around(routes: readonly RandomRoute[], policies?: object): RandomConfig {
    const listener = { routes: [...routes, PLAIN], ...(policies && { policies }) }
    return { backends: this.#services.backends, binds: [{ port: 0, listeners: [listener] }] }
  }

  #listenerOf(config: RandomConfig): object {
    const [bind] = config.binds as readonly { listeners: object[] }[]
    return bind?.listeners[0] ?? {}
  }

  #route(index: number): RandomRoute & { name: string } {
    const random = this.#random
    const name = `r${index}`
    const base = {
      name,
      matches: [{ path: { pathPrefix: `/${name}` } }] as unknown,
      policies: {} as Record<string, unknown>,
      backends: [] as Record<string, unknown>[],
    }
    if (random.chance(20)) {
      const matches = this.#values.make(this.#values.at([...ROUTES, 'matches']), 'routes[].matches')
      if (this.#loads(this.#around([{ ...base, matches }]))) base.matches = matches
    }
    for (let left = random.pick([0, 0, 0, 1, 2]); left >= 0; left--) {
      const backend = this.#backend((made) => this.#loads(this.#around([{ ...base, backends: [made] }])))
      base.backends.push(backend)
    }
    const canRun = (policies: Record<string, unknown>): boolean => this.#loads(this.#around([{ ...base, policies }]))
    base.policies = this.#block([...ROUTES, 'policies'], ['phase'], canRun, 4)
    return base
  }

  #backend(canRun: (backend: Record<string, unknown>) => boolean): Record<string, unknown> {
    const random = this.#random
    const kind = random.pick(KINDS.filter(this.#isWanted))
    const at = [...ROUTES, 'backends', '[]', kind]
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const value = this.#values.make(this.#values.at(at), `backends[].${kind}`)
      const backend: Record<string, unknown> = { [kind]: this.#reachable(kind, value) }
      if (kind === 'ai' && random.chance(85)) backend['policies'] = { auth: { key: 'secret-secret' } }
      if (!canRun(backend)) continue
      this.#count(kind)
      if (random.chance(50)) {
        const path = [...ROUTES, 'backends', '[]', 'policies']
        const known = backend['policies'] as object | undefined
        const join = (policies: object): Record<string, unknown> => ({
          ...backend,
          policies: { ...known, ...policies },
        })
        return join(this.#block(path, ['tls', 'tunnel'], (policies) => canRun(join(policies)), 2))
      }
      return backend
    }
    return { backend: random.pick(this.#services.names) }
  }

  /** Points model and MCP backends at servers that speak their protocol, most of the time. */
  #reachable(kind: string, value: unknown): unknown {
    const random = this.#random
    if (random.chance(15)) return value
    if (kind === 'mcp') {
      const targets = Array.from({ length: random.below(4) }, (_, index) => ({
        name: ['one', 'two', 'three'][index],
        ...(random.chance(8)
          ? { stdio: { cmd: process.execPath, args: this.#services.stdioArgs } }
          : { static: { host: '127.0.0.1', port: random.pick(this.#services.mcpPorts) } }),
      }))
      return random.chance(30) ? { targets } : { ...(value as object), targets }
    }
    if (kind === 'dynamicForwardProxy') return { ...(value as object), allowCidrs: ['127.0.0.0/8'] }
    if (kind !== 'ai') return value
    const vendor = random.pick([...Object.keys(this.#services.providers), 'mock', 'mock'])
    const port = this.#services.providers[vendor]
    if (port === undefined)
      return {
        provider: {
          mock: this.#values.make(
            this.#values.at([...ROUTES, 'backends', '[]', 'ai', 'provider', 'mock']),
            'provider.mock',
          ),
        },
      }
    const settings = vendor === 'bedrock' ? { region: 'us-east-1' } : {}
    return { provider: { [vendor]: settings, host: '127.0.0.1', port } }
  }

  /** Up to `most` random policies that can run together. */
  #block(
    path: readonly string[],
    without: readonly string[],
    canRun: (block: Record<string, unknown>) => boolean,
    most: number,
  ): Record<string, unknown> {
    const { properties = {} } = this.#values.at(path)
    const names = Object.keys(properties).filter((name) => !without.includes(name) && this.#isWanted(name))
    let block: Record<string, unknown> = {}
    for (let left = this.#random.below(most + 1); left > 0; left--) {
      const name = this.#random.pick(names)
      // Policies that answer by themselves hide those behind them.
      if (OWN_ANSWERS.has(name) && this.#random.chance(70)) continue
      const next = this.#accepted(properties[name] ?? {}, name, (value) => canRun({ ...block, [name]: value }))
      if (next === undefined) continue
      this.#count(`${path.at(-1) === 'frontend' ? 'frontend.' : ''}${name}`)
      block = { ...block, [name]: next }
    }
    return block
  }

  #accepted(schema: Schema, name: string, canRun: (value: unknown) => boolean): unknown {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const made = this.#values.make(schema, name)
      const value = this.#random.chance(75) ? answering(made, SERVICES[name]) : made
      if (canRun(value)) return value
    }
    return undefined
  }

  #count(name: string): void {
    this.seen.set(name, (this.seen.get(name) ?? 0) + 1)
  }

  /** Whether a config loads; costs a tenth of compiling it. */
  #loads(config: RandomConfig): boolean {
    return this.#load(config) !== null
  }

  #canRun(config: RandomConfig): boolean {
    const ir = this.#load(config)
    return ir !== null && checkCompile(irOfText(textOfIr(ir))).length === 0
  }

  #load(config: RandomConfig): Ir | null {
    const options = { file: 'random.yaml', dir: this.#services.dir, env: { SECRET: 'secret-secret' } }
    const loaded = loadConfig(JSON.stringify(config), options)
    return loaded.ok ? loaded.ir : null
  }
}

/** The same policy with its external service at a server that speaks the protocol. */
function answering(value: unknown, service: string | undefined): unknown {
  if (service === undefined || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => answering(item, service))
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    key === 'backendRef' ? { name: service } : answering(each, service),
  ])
  return Object.fromEntries(entries) as object
}

const SERVICES: Record<string, string> = { extAuth: 'authorizer', extProc: 'processor', rateLimit: 'limits' }
const KINDS = ['backend', 'host', 'dynamicForwardProxy', 'ai', 'ai', 'ai', 'mcp', 'mcp', 'mcp', 'aws']
const OWN_ANSWERS = new Set([
  'abort',
  'apiKeyAuthentication',
  'basicAuthentication',
  'jwtAuthentication',
  'mcpAuthentication',
  'directResponse',
  'requestRedirect',
  'csrf',
  'proxyProtocol',
  'networkAuthorization',
])
const ATTEMPTS = 6
const PLAIN = {
  name: 'plain',
  matches: [{ path: { exact: '/plain' } }],
  policies: { directResponse: { status: 200, body: 'plain' } },
}
