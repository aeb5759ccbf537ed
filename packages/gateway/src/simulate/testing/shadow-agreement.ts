import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { Random } from '../../../../http/src/http1/fuzz/random.ts'
import { enforcedIn } from '../../ir/shadow-policies.ts'
import type { AttachedPolicy, Ir } from '../../ir/resources.ts'
import { type ShadowPolicies, trafficPolicies } from '../../policies/index.ts'
import { loadConfig } from '../../sources/file.ts'
import { RandomConfigs } from '../../testing/random/random-config.ts'
import { randomRequest } from '../../testing/random/random-request.ts'
import type { Schema } from '../../testing/random/schema-value.ts'
import type { Outcome } from '../outcome.ts'
import { Simulation } from '../simulation.ts'
import type { World } from '../world.ts'
import {
  ENV,
  HOSTS,
  kindsOf,
  LEFT_OUT,
  plainMessage,
  simulatedOf,
  simulatedView,
  Wire,
  withLongTimeouts,
} from './agreement.ts'
import { replyTo } from './replies.ts'

interface ShadowAgreement {
  compared: number
  /** The number of times that each shadow policy had each outcome. */
  verdicts: Map<string, number>
}

/**
 * Simulates random requests with random configs twice: as they are, and with random shadow policies added. Fails when a
 * response or a request to a backend differs.
 */
export async function compareWithShadows(
  t: TestContext,
  { seed, pairs, requests }: { seed: number; pairs: number; requests: number },
): Promise<ShadowAgreement> {
  const schemaFile = new URL('../../../../../schema/config.json', import.meta.url)
  const schema = JSON.parse(readFileSync(schemaFile, 'utf8')) as Schema
  const random = new Random(seed)
  const wire = await Wire.start(t)
  const { services } = wire
  const configs = new RandomConfigs(random, schema, services, (name) => !LEFT_OUT.has(name))
  const result: ShadowAgreement = { compared: 0, verdicts: new Map() }
  const load = (): { ir: Ir; kinds: string[]; text: string } | null => {
    const made = configs.make()
    const text = made === null ? '' : JSON.stringify(withLongTimeouts(made))
    // Skips configs with `random(`: a shadow policy that takes a random number shifts the numbers of later policies.
    if (made === null || /"tls"|"tunnel"|nowhere\.test|random\(/.test(text)) return null
    const loaded = loadConfig(text, { file: 'random.yaml', dir: services.dir, env: ENV })
    return loaded.ok ? { ir: loaded.ir, kinds: kindsOf(made), text } : null
  }
  while (result.compared < pairs) {
    const [config, other] = [load(), load()]
    if (config === null || other === null) continue
    const clock = Date.parse('2026-01-31T12:00:00Z') + random.below(1_000_000) * 1000
    const world: World = {
      ...{ clock, seed, env: ENV, hosts: HOSTS },
      upstream: (address) =>
        services.hosts.includes(address)
          ? { refusal: null, speaksHttp2: false, answer: (message) => replyTo(message, services.keySet) }
          : null,
    }
    const shadowed = withShadows(random, config.ir, other.ir)
    const plain = await Simulation.start(withoutShadows(config.ir), world, { hasDetails: false })
    const both = await Simulation.start(shadowed, world, { hasDetails: false })
    const known = { kinds: config.kinds, tokens: services.tokens, hosts: services.hosts, sessions: [] }
    for (let left = requests; left > 0; left--) {
      const request = simulatedOf({ ...randomRequest(random, known), isCancelled: false })
      if (request === null) continue
      const [expected, found] = [await plain.send(request), await both.send(request)]
      if (expected.unknowns.length + found.unknowns.length > 0) break
      const about: string = `seed ${seed}\nconfig ${config.text}\npolicies ${JSON.stringify(shadowed.policies)}\nrequest ${JSON.stringify(request)}`
      assert.deepEqual(viewOf(found, expected), viewOf(expected, expected), about)
      result.compared++
      for (const { policy, outcome } of found.access?.shadows?.outcomes ?? []) {
        const verdict = `${policy}:${outcome}`
        result.verdicts.set(verdict, (result.verdicts.get(verdict) ?? 0) + 1)
      }
      if (plain.time.now() !== clock || both.time.now() !== clock) break
    }
  }
  return result
}

/** Returns the outcome without the calls that only shadow policies make, such as calls to an external authorizer. */
function viewOf(outcome: Outcome, expected: Outcome): object {
  const wanted = expected.upstreamRequests.map(plainMessage)
  const upstream: string[] = []
  for (const message of outcome.upstreamRequests.map(plainMessage)) {
    const index = wanted.indexOf(message)
    if (index === -1) continue
    wanted.splice(index, 1)
    upstream.push(message)
  }
  const view = { ...simulatedView(outcome), upstream: upstream.toSorted() }
  return JSON.parse(JSON.stringify(view).replaceAll(MOCK_ID, 'mock-id')) as object
}

/** Matches the ids of mock responses, which differ because shadow policies take random numbers too. */
const MOCK_ID = /\bmock-[0-9a-f]+/g

const deciding = new Set<string>(trafficPolicies.filter((policy) => 'decides' in policy).map(({ name }) => name))

function withoutShadows(ir: Ir): Ir {
  return { ...ir, policies: ir.policies.map((policy) => ({ ...policy, traffic: holdingIn(policy) })) }
}

function holdingIn({ traffic }: AttachedPolicy): AttachedPolicy['traffic'] {
  return traffic === null ? null : enforcedIn(traffic)
}

/** Adds the deciding policies of another config as shadow policies, and one more for the whole gateway. */
function withShadows(random: Random, ir: Ir, other: Ir): Ir {
  const shadows = other.policies.map((policy) => shadowsFrom(policy)).filter((found) => Object.keys(found).length > 0)
  const keys = new Set(ir.backends.map(({ key }) => key))
  const wide: AttachedPolicy = {
    ...{ key: 'wide', target: { kind: 'gateway' }, frontend: null, backend: null },
    ...{ traffic: { shadow: ALWAYS }, phase: 'PostRouting' },
  }
  return {
    ...ir,
    backends: [...ir.backends, ...other.backends.filter(({ key }) => !keys.has(key))],
    policies: [
      wide,
      ...ir.policies.map((policy) => {
        if (policy.traffic === null || shadows.length === 0) return policy
        return { ...policy, traffic: { ...holdingIn(policy), shadow: { ...ALWAYS, ...random.pick(shadows) } } }
      }),
    ],
  }
}

function shadowsFrom({ traffic }: AttachedPolicy): ShadowPolicies {
  const all = Object.entries({ ...traffic, ...traffic?.shadow })
  return Object.fromEntries(all.filter(([name]) => deciding.has(name)))
}

const ALWAYS: ShadowPolicies = {
  authorization: { rules: [{ mode: 'require', expression: 'request.method == "GET"' }] },
  rateLimit: { local: [{ requests: 2, unit: 'Hours', burst: 0 }] },
  csrf: {},
}
