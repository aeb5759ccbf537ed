import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Fault } from '../../packages/gateway/src/testing/providers/fault.ts'
import {
  ANSWERS,
  CALLS,
  failureMessage,
  TOOLS,
  toldText,
  USAGE,
} from '../../packages/gateway/src/testing/providers/scenes.ts'
import { startFakeProvider } from '../../packages/gateway/src/testing/providers/server.ts'
import { httpConfig } from '../../packages/gateway/src/testing/scene.ts'
import { type ShippedGateway, startShippedGateway } from '../shipped-gateway.ts'
import { type Target, targets } from '../targets.ts'
import { runPython, withoutPython } from './python.ts'

/** The vendors' libraries for Python, as they come, before fakes of the vendors. */

interface Library {
  name: string
  script: string
  /** Calls that give a text, by their names in the script. */
  texts: readonly string[]
  tools: readonly string[]
  providers: readonly string[]
  /** Route types by path, when the default ones do not fit. */
  routes?: Record<string, string>
  /** The exception that the library raises, by status. */
  errors: Readonly<Record<401 | 403 | 429, string>>
}

const libraries: Library[] = [
  {
    name: 'openai',
    script: 'openai_calls.py',
    texts: ['chat', 'streamed', 'helper', 'responses', 'responses_streamed'],
    tools: ['tools', 'tools_streamed'],
    providers: ['openai', 'anthropic', 'gemini 2.5', 'bedrock'],
    errors: { 401: 'AuthenticationError', 403: 'PermissionDeniedError', 429: 'RateLimitError' },
  },
  {
    name: 'anthropic',
    script: 'anthropic_calls.py',
    texts: ['chat', 'streamed'],
    tools: ['tools', 'tools_streamed'],
    providers: ['anthropic', 'openai', 'gemini 2.5', 'bedrock'],
    errors: { 401: 'AuthenticationError', 403: 'PermissionDeniedError', 429: 'RateLimitError' },
  },
  {
    name: 'boto3',
    script: 'bedrock_calls.py',
    texts: ['converse', 'converse_stream', 'invoke_model', 'invoke_model_with_response_stream'],
    tools: ['tools'],
    providers: ['bedrock'],
    routes: { '*': 'Detect' },
    errors: { 401: 'UnrecognizedClientException', 403: 'AccessDeniedException', 429: 'ThrottlingException' },
  },
]

interface ClientOutput {
  text?: string
  usage?: [input: number, output: number]
  calls?: [name: string, input: object][]
  error?: string
  status?: number
  message?: string
}

interface Job {
  url: string
  model: string
  retries: number
  call: string
  scene: string
}

/** One gateway, the input of a script, and the expected result. */
interface Case {
  title: string
  providers: readonly Target[]
  /** A fault of all providers but the last one, if there are several. */
  fault?: Fault
  policies?: object
  retries?: number
  calls: readonly (readonly [name: string, scene: string])[]
  check(answers: readonly ClientOutput[], gateway: ShippedGateway): void | Promise<void>
}

/** Providers stand in groups of their own, in their order. */
async function startCase(
  { routes }: Library,
  { providers, fault = {}, policies = {} }: Case,
  close: (() => Promise<void>)[],
): Promise<ShippedGateway> {
  const last = providers.length === 1 ? 1 : providers.length - 1
  const fakes = await Promise.all(
    providers.map(({ vendor }, at) => startFakeProvider(vendor(), at < last ? fault : {})),
  )
  const groups = providers.map(({ provider, auth, model }, at) => {
    const edits = { overrides: [{ field: 'model', value: model }] }
    const own = routes === undefined ? { auth, ai: edits } : { auth }
    return { providers: [{ name: `p${at}`, ...provider, host: '127.0.0.1', port: fakes[at]!.port, policies: own }] }
  })
  const backend = { ai: { groups }, policies: routes === undefined ? {} : { ai: { routes } } }
  const gateway = await startShippedGateway(httpConfig([{ policies, backends: [backend] }]))
  close.push(() => gateway.close(), ...fakes.map((fake) => () => fake.close()))
  return gateway
}

function targetOf(name: string): Target {
  const found = targets.find((target) => target.name === name)
  if (found === undefined) throw new Error(`no target ${name}`)
  return found
}

const text = ANSWERS.text.join('')
const told = toldText(['result of get_weather', 'result of get_time'])
const calls = [CALLS.weather, CALLS.clock].map((call) => [call.name, JSON.parse(call.arguments) as object])

function casesOf({ texts, tools, providers, errors, routes }: Library): Case[] {
  const all = texts.map((call) => [call, 'text'] as const)
  const own = [targetOf(providers[0]!)]
  const rateLimit = { local: [{ tokens: USAGE.input + USAGE.output, unit: 'Hours' }] }
  const cases = providers.flatMap((name): Case[] => [
    {
      title: `chats with ${name}, whole and streamed, with tools`,
      providers: [targetOf(name)],
      calls: [...all, ...tools.map((call) => [call, 'parallel'] as const)],
      check(answers) {
        for (const [at, call] of texts.entries()) {
          assert.equal(answers[at]?.text, text, `${call}: ${JSON.stringify(answers[at])}`)
          assert.deepEqual(answers[at].usage ?? [USAGE.input, USAGE.output], [USAGE.input, USAGE.output], call)
        }
        for (const answer of answers.slice(texts.length)) assert.deepEqual(answer, { text: told, calls })
      },
    },
    {
      title: `raises what ${name} refuses`,
      providers: [targetOf(name)],
      calls: texts.flatMap((call) => [[call, 'error-rateLimit'] as const, [call, 'error-permission'] as const]),
      check(answers) {
        for (const [at, answer] of answers.entries()) {
          const [status, kind] = at % 2 === 0 ? ([429, 'rateLimit'] as const) : ([403, 'permission'] as const)
          assert.deepEqual(answer, { error: errors[status], status, message: failureMessage(kind) })
        }
      },
    },
  ])
  cases.push({
    title: 'raises what the gateway refuses, with its words',
    providers: own,
    policies: { authorization: { rules: [{ deny: 'true' }] } },
    calls: all,
    check(answers) {
      for (const answer of answers) {
        assert.deepEqual(answer, { error: errors[403], status: 403, message: 'authorization failed' })
      }
    },
  })
  for (const [call] of all) {
    cases.push({
      title: `${call} meets a limit of tokens that the call before it spent`,
      providers: own,
      policies: { rateLimit },
      calls: [
        [call, 'text'],
        [call, 'text'],
      ],
      check([first, second]) {
        assert.equal(first?.text, text)
        assert.deepEqual(second, { error: errors[429], status: 429, message: 'rate limit exceeded' })
      },
    })
    cases.push({
      title: `${call} tries again by itself`,
      providers: own,
      fault: { failure: { kind: 'unavailable', message: 'busy' }, times: 2 },
      retries: 2,
      calls: [[call, 'text']],
      check: ([answer]) => assert.equal(answer?.text, text, JSON.stringify(answer)),
    })
  }
  // Requests that pass unchanged fail over only to providers of the same vendor.
  const others = routes === undefined ? providers.map(targetOf) : [...own, ...own]
  cases.push({
    title: 'notices nothing of a failover',
    providers: others,
    fault: { failure: { kind: 'overloaded', message: 'busy' } },
    calls: all,
    check(answers, gateway) {
      for (const answer of answers) assert.equal(answer.text, text, JSON.stringify(answer))
      const attempts = others.map((_, at) => `p${at}:${at === others.length - 1 ? '200' : '\\d+'}`)
      for (const { llm } of gateway.records) assert.match(llm?.attempts ?? '', new RegExp(`^${attempts.join(',')}$`))
    },
  })
  return cases
}

for (const library of libraries) {
  describe(`Python: ${library.name}`, { skip: withoutPython, timeout: 300_000 }, () => {
    const cases = casesOf(library)
    const close: (() => Promise<void>)[] = []
    const gateways: ShippedGateway[] = []
    let answers: ClientOutput[] = []

    // All in one run: to load such a library takes longer than all of its calls.
    before(async () => {
      const jobs: Job[] = []
      for (const each of cases) {
        const gateway = await startCase(library, each, close)
        gateways.push(gateway)
        const common = {
          url: `http://127.0.0.1:${gateway.port()}`,
          model: each.providers[0]!.model,
          retries: each.retries ?? 0,
        }
        for (const [call, scene] of each.calls) jobs.push({ ...common, call, scene })
      }
      answers = await runPython<ClientOutput[]>(library.script, { tools: TOOLS, jobs })
    })
    after(() => Promise.all(close.map((end) => end())))

    let at = 0
    for (const [index, each] of cases.entries()) {
      const [from, to] = [at, (at += each.calls.length)]
      it(each.title, async () => {
        const gateway = gateways[index]!
        await each.check(answers.slice(from, to), gateway)
        assert.deepEqual(gateway.bugs, [])
      })
    }
  })
}
