import type { LoadedTests } from '../config-tests/load-tests.ts'
import { readTests } from '../config-tests/load-tests.ts'
import { carriedCredentials } from '../config-tests/credentials.ts'
import { failuresOf, type RunParts, type TestFailure } from '../config-tests/run-tests.ts'
import { simulatedRequest } from '../config-tests/simulated-request.ts'
import { replyOf, worldOf } from '../config-tests/test-world.ts'
import { Simulation } from '../simulate/simulation.ts'
import type { JsonObject } from '../schema/kit.ts'
import type { RecordedTest } from './recorded-test.ts'

/** A test without the upstreams that its request reaches, which the first run finds out. */
export type Draft = Omit<RecordedTest, 'upstreams'> & { readonly reply: JsonObject }

/** The result of a draft: the test when the draft passes, otherwise its failures. */
export type TrialResult =
  | { readonly kind: 'passed'; readonly test: RecordedTest }
  | { readonly kind: 'failed'; readonly failures: readonly TestFailure[]; readonly problem: string | null }

/** Runs drafts of tests against a config. */
export class TestBench {
  readonly #parts: RunParts
  readonly #world: JsonObject

  constructor(parts: RunParts, world: JsonObject) {
    this.#parts = parts
    this.#world = world
  }

  async try({ reply, ...draft }: Draft): Promise<TrialResult> {
    const bare = this.#read({ ...draft, upstreams: { '*': reply } })
    if (typeof bare === 'string') return { kind: 'failed', failures: [], problem: bare }
    const addresses = await this.#addresses(bare)
    const upstreams = Object.fromEntries(addresses.map((address) => [address, reply]))
    const test: RecordedTest = { ...draft, ...(addresses.length > 0 && { upstreams }) }
    const tests = this.#read(test)
    if (typeof tests === 'string') return { kind: 'failed', failures: [], problem: tests }
    const [loaded] = tests.tests
    const failures = loaded === undefined ? [] : await failuresOf(tests, loaded, this.#parts)
    return failures.length === 0 ? { kind: 'passed', test } : { kind: 'failed', failures, problem: null }
  }

  /**
   * Returns the number of repeated requests before the first response with this status; null when none of the first
   * `most` responses has the status.
   */
  async countUntil({ reply, ...draft }: Draft, status: number, most: number): Promise<number | null> {
    const tests = this.#read({ ...draft, upstreams: { '*': reply } })
    const [test] = typeof tests === 'string' ? [] : tests.tests
    const [step] = test?.steps ?? []
    if (typeof tests === 'string' || test === undefined || step === undefined) return null
    const { config, issuer, hashes } = this.#parts
    const { ir, endpoints } = config
    const simulation = await Simulation.start(ir, worldOf(tests, test), {
      hasDetails: false,
      ...(endpoints && { endpoints }),
    })
    for (let count = 0; count < most; count++) {
      const carried = carriedCredentials(step.given, { ir, issuer, hashes, now: test.clock })
      const { response } = await simulation.send(simulatedRequest(step.request, step.given, carried, ir))
      if (response?.status === status) return count
    }
    return null
  }

  /**
   * Returns the addresses of the backend that the test's request reaches, without the addresses of services that
   * policies call.
   */
  async #addresses(tests: LoadedTests): Promise<string[]> {
    const [test] = tests.tests
    const [step] = test?.steps ?? []
    const [reply] = test?.upstreams['*'] ?? []
    if (test === undefined || step === undefined || reply === undefined) return []
    const { config, issuer, hashes } = this.#parts
    const { ir, endpoints } = config
    const found = new Set<string>()
    const current: { simulation: Simulation | null } = { simulation: null }
    const simulation = await Simulation.start(
      ir,
      {
        ...tests.world,
        clock: test.clock,
        upstream: (address) => ({
          refusal: reply.fault === 'refused' && current.simulation?.endpoint === address ? 'ECONNREFUSED' : null,
          speaksHttp2: true,
          answer(message) {
            if (current.simulation?.endpoint !== message.address) return null
            found.add(message.address)
            return replyOf(reply, message)
          },
        }),
      },
      { hasDetails: false, ...(endpoints && { endpoints }) },
    )
    current.simulation = simulation
    const carried = carriedCredentials(step.given, { ir, issuer, hashes, now: test.clock })
    const { request } = await simulation.send(simulatedRequest(step.request, step.given, carried, ir))
    const last = request?.endpoint ?? ''
    if (last !== '') found.add(last)
    return [...found]
  }

  #read(test: RecordedTest): LoadedTests | string {
    const read = readTests(JSON.stringify({ config: 'config', world: this.#world, tests: [test] }), 'recorded')
    return read.ok
      ? read.value
      : read.problems.map(({ found, expected }) => `${found}, expected ${expected}`).join('; ')
  }
}
