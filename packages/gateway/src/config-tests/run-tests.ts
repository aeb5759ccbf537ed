import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isCelError } from '@portico/cel'
import { evaluate } from '../explain/evaluate.ts'
import type { Explanation, SourceLocation } from '../findings/explanation.ts'
import type { Outcome } from '../simulate/outcome.ts'
import { compileExpression } from '../pipeline/expression/expression.ts'
import { recordScope } from '../pipeline/views/record-scope.ts'
import { RecordStore } from '../telemetry/recorder/record-store.ts'
import { Simulation } from '../simulate/simulation.ts'
import type { ConfigLocation } from '../sources/located-problem.ts'
import { ActualOutcome, upstreamIndex } from './actual-outcome.ts'
import { Coverage } from './coverage.ts'
import { carriedCredentials, UnusableCredential } from './credentials.ts'
import { HashStandIns, type ReplacedNames } from './hash-stand-ins.ts'
import { BadMatcher, type Difference, differences } from './matcher.ts'
import type { ExpectedOutcome, LoadedStep, LoadedTest, LoadedTests } from './load-tests.ts'
import { simulatedRequest } from './simulated-request.ts'
import { loadTestedConfig, type TestedConfig } from './tested-config.ts'
import { worldOf } from './test-world.ts'
import { TrustedIssuer } from './trusted-issuer.ts'

/** A part of a test that failed. */
export interface TestFailure {
  /** The location of the expectation. */
  readonly location: ConfigLocation
  /** The request, as `GET /path`, with its number when there are several. */
  readonly request: string
  readonly differences: readonly Difference[]
  /** Why the test cannot decide; empty when it can. */
  readonly unknown: string
  /** The decision in one sentence, and its location; null when there was no decision. */
  readonly headline: string | null
  readonly decidedAt: SourceLocation | null
  /** The trace that led to the outcome, a line for each event. */
  readonly trace: readonly string[]
}

export interface TestResult {
  readonly file: string
  readonly name: string
  readonly location: ConfigLocation
  readonly failures: readonly TestFailure[]
  readonly milliseconds: number
}

export type RunResult =
  | { ok: true; results: TestResult[]; coverage: Coverage; warnings: string[] }
  | { ok: false; problems: string[] }

interface RunOptions {
  /** Runs only tests whose name contains the text; null runs all. */
  readonly filter: string | null
  /** The text of the config, which replaces the text of the config file. */
  readonly text?: string
}

/** Runs the tests of one file, one after the other. */
export async function runTests(tests: LoadedTests, options: RunOptions): Promise<RunResult> {
  const { config, file, gateway, world } = tests
  const path = isAbsolute(config) ? config : join(dirname(resolve(file)), config)
  const loaded = await loadTestedConfig(path, {
    env: world.env,
    gateway,
    standsIn: true,
    ...(options.text !== undefined && { text: options.text }),
  })
  return loaded.ok ? runLoaded(tests, loaded, options) : loaded
}

/** Runs the tests of one file against a config, which the run changes. */
export async function runLoaded(tests: LoadedTests, loaded: TestedConfig, { filter }: RunOptions): Promise<RunResult> {
  const { file } = tests
  const issuer = new TrustedIssuer()
  issuer.trustIn(loaded.ir)
  const hashes = new HashStandIns(loaded.ir, namesIn(tests))
  const coverage = new Coverage(loaded)
  const parts = { config: loaded, issuer, hashes, coverage, records: new RecordStore() }
  const results: TestResult[] = []
  for (const test of tests.tests) {
    if (filter !== null && !test.name.includes(filter)) continue
    const startedAt = performance.now()
    const failures = await new TestRun(tests, test, parts).run()
    const { name, location } = test
    results.push({ file, name, location, failures, milliseconds: performance.now() - startedAt })
  }
  return { ok: true, results, coverage, warnings: loaded.warnings }
}

/** Returns the names of the API keys and users that tests use without the credential itself. */
function namesIn({ tests }: LoadedTests): ReplacedNames {
  const clients = tests.flatMap(({ steps }) => steps.map(({ given }) => given))
  return {
    keys: new Set(clients.flatMap(({ apiKey }) => apiKey ?? [])),
    users: new Set(
      clients.flatMap(({ basic }) => (basic !== undefined && basic.password === undefined ? basic.username : [])),
    ),
  }
}

/** Runs one test; resolves to its failures. */
export function failuresOf(tests: LoadedTests, test: LoadedTest, parts: RunParts): Promise<TestFailure[]> {
  return new TestRun(tests, test, parts).run()
}

/** A config that accepts the stand-in credentials of a test run. */
export interface RunParts {
  readonly config: TestedConfig
  readonly issuer: TrustedIssuer
  readonly hashes: HashStandIns
  readonly coverage: Coverage
  /** The memory for records, which all tests of a run share. */
  readonly records: RecordStore
}

class TestRun {
  readonly #tests: LoadedTests
  readonly #test: LoadedTest
  readonly #parts: RunParts

  constructor(tests: LoadedTests, test: LoadedTest, parts: RunParts) {
    this.#tests = tests
    this.#test = test
    this.#parts = parts
  }

  async run(): Promise<TestFailure[]> {
    const { ir, endpoints } = this.#parts.config
    const world = worldOf(this.#tests, this.#test)
    const simulation = await Simulation.start(ir, world, {
      ...{ hasDetails: true, records: this.#parts.records },
      ...(endpoints && { endpoints }),
    })
    const failures: TestFailure[] = []
    for (const step of this.#test.steps) {
      if (step.afterMs > 0) simulation.time.moveTo(simulation.time.now() + step.afterMs)
      failures.push(...(await this.#step(step, simulation)))
    }
    return failures
  }

  async #step(step: LoadedStep, simulation: Simulation): Promise<TestFailure[]> {
    const { config, issuer, hashes, coverage } = this.#parts
    const failures: TestFailure[] = []
    for (let number = 0; number < step.repeat; number++) {
      const expected = outcomeAt(step.outcomes, number)
      if (expected === null) continue
      const words = { step, number }
      try {
        const now = simulation.time.now()
        const carried = carriedCredentials(step.given, { ir: config.ir, issuer, hashes, now })
        const outcome = await simulation.send(simulatedRequest(step.request, step.given, carried, config.ir))
        coverage.add(outcome)
        const failure = this.#compare(expected, outcome, words)
        if (failure !== null) failures.push(failure)
      } catch (error) {
        if (!(error instanceof UnusableCredential || error instanceof BadMatcher)) throw error
        failures.push(failureOf({ ...words, expected, unknown: error.message }))
      }
    }
    return failures
  }

  #compare(expected: ExpectedOutcome, outcome: Outcome, words: FailedRequest): TestFailure | null {
    const actual = new ActualOutcome(outcome, this.#parts.config)
    const differing = this.#differences(expected, actual, outcome)
    const unknown = unknownOf(expected, outcome)
    if (differing.length === 0 && unknown === '') return null
    const { explanation } = actual
    return failureOf({ ...words, expected, outcome, explanation, differing, unknown })
  }

  #differences({ expected, upstream }: ExpectedOutcome, actual: ActualOutcome, outcome: Outcome): Difference[] {
    const { times: _times, upstream: _upstream, headers, cel, ...rest } = expected
    const found: Difference[] = []
    for (const [name, matcher] of Object.entries(rest)) {
      if (matcher !== undefined) found.push(...differences(matcher, actual[name as keyof typeof rest], [name]))
    }
    found.push(...headerDifferences(headers ?? {}, actual.headers, ['headers']))
    if (upstream === null) found.push(...differences(null, actual.upstream, ['upstream']))
    else if (upstream !== undefined) found.push(...upstreamDifferences(upstream, actual.upstream))
    if (cel !== undefined) found.push(...celDifferences(cel, outcome))
    return found
  }
}

function upstreamDifferences(
  { headers, ...rest }: NonNullable<ExpectedOutcome['upstream']>,
  actual: ActualOutcome['upstream'],
): Difference[] {
  if (actual === null) return [{ field: ['upstream'], expected: 'a request', actual: 'nothing' }]
  const named = Object.entries(rest).flatMap(([name, matcher]) =>
    matcher === undefined ? [] : differences(matcher, actual[name as keyof typeof rest], ['upstream', name]),
  )
  return [...named, ...headerDifferences(headers ?? {}, actual.headers, ['upstream', 'headers'])]
}

function headerDifferences(
  expected: Readonly<Record<string, Parameters<typeof differences>[0]>>,
  actual: Readonly<Record<string, string>>,
  field: readonly string[],
): Difference[] {
  return Object.entries(expected).flatMap(([name, matcher]) =>
    differences(matcher, actual[name.toLowerCase()], [...field, name]),
  )
}

function celDifferences(expression: string, { record }: Outcome): Difference[] {
  const field = ['cel']
  if (record === null) return [{ field, expected: expression, actual: 'no record of the request' }]
  const identity = { podName: 'simulation', namespace: 'default', gateway: 'default' }
  const scope = recordScope(record, identity)
  const { problems } = evaluate(expression, 'log', { scope })
  const [problem] = problems
  if (problem !== undefined)
    throw new BadMatcher(`\`cel\` is invalid at ${problem.line}:${problem.column}: ${problem.message}`)
  const result = compileExpression(expression, 'log').evaluate(scope)
  if (result === true) return []
  const actual = isCelError(result) ? result.message : JSON.stringify(result)
  return [{ field, expected: `${expression} to be true`, actual }]
}

/** The outcome of the request with this number; null when it is not checked. */
function outcomeAt(outcomes: readonly ExpectedOutcome[], number: number): ExpectedOutcome | null {
  if (outcomes.length === 1) return outcomes[0] ?? null
  let left = number
  for (const outcome of outcomes) {
    if (left < outcome.times) return outcome
    left -= outcome.times
  }
  return null
}

/**
 * Why the expectation cannot be decided; empty when it can. The route, and the request to the first upstream that is
 * unknown, are decided before its answer.
 */
function unknownOf({ expected, upstream }: ExpectedOutcome, outcome: Outcome): string {
  const [first] = outcome.unknowns
  if (first === undefined) return ''
  const { times: _times, route: _route, upstream: _upstream, ...rest } = expected
  const isUpstreamKnown = upstream === undefined || first.after >= upstreamIndex(outcome)
  if (isUpstreamKnown && Object.values(rest).every((matcher) => matcher === undefined)) return ''
  switch (first.kind) {
    case 'upstream':
      return `the answer of ${first.of} is unknown: add it to \`world.upstreams\``
    case 'name':
      return `the addresses of ${first.of} are unknown: add them to \`world.hosts\``
    case 'answer':
      return `the world has no answer to ${first.of}`
    case 'token':
      return `a test obtains no tokens, and the backend needs one of ${first.of}`
    case 'process':
      return `a test starts no programs, and the backend needs ${first.of}: add \`stdio:\` with the name of the target to \`world.upstreams\``
    case 'listener':
      return `the config has no listener for HTTP on ${first.of}`
  }
}

interface FailedRequest {
  readonly step: LoadedStep
  readonly number: number
}

function failureOf({
  step,
  number,
  expected,
  outcome,
  explanation = null,
  differing = [],
  unknown,
}: FailedRequest & {
  expected: ExpectedOutcome
  outcome?: Outcome
  explanation?: Explanation | null
  differing?: readonly Difference[]
  unknown: string
}): TestFailure {
  const first = differing[0]
  return {
    location: expected.locationOf(...(first === undefined ? [] : first.field)),
    request: requestWords(step, number),
    differences: unknown === '' ? differing : [],
    unknown,
    headline: explanation?.headline ?? null,
    decidedAt: explanation?.decidedBy?.place ?? null,
    trace: outcome === undefined ? [] : traceLines(outcome),
  }
}

function requestWords({ request, repeat }: LoadedStep, number: number): string {
  const { method, path, chat, mcp, grpc } = request
  const words = chat !== undefined ? 'chat' : (mcp ?? grpc ?? `${method ?? 'GET'} ${path ?? '/'}`)
  return repeat === 1 ? words : `${words} (request ${number + 1} of ${repeat})`
}

/** One line for each event that shows a decision. */
function traceLines({ events }: Outcome): string[] {
  return events.flatMap(({ message }) => {
    const { type, kind, phase, result, selectedRoute, target, status, error } = message as Record<string, unknown>
    switch (type) {
      case 'routeSelection':
        return [`route ${typeof selectedRoute === 'string' ? selectedRoute : '(none)'}`]
      case 'policy': {
        const { type: outcome, reason, status: code } = result as { type: string; reason?: string; status?: number }
        const why =
          outcome === 'stop' ? ` with ${code ?? 0} (${reason ?? ''})` : outcome === 'skip' ? `: ${reason ?? ''}` : ''
        return [`${String(phase)} policy ${String(kind)} ${OUTCOMES[outcome] ?? outcome}${why}`]
      }
      case 'backendCallStart':
        return [`call to ${String(target)}`]
      case 'backendCallResult':
        return [`answer ${typeof status === 'number' ? status : String(error)}`]
      default:
        return []
    }
  })
}

const OUTCOMES: Readonly<Record<string, string>> = { apply: 'applied', skip: 'skipped', stop: 'stopped the request' }
