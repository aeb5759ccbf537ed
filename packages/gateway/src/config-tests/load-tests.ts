import { readFileSync } from 'node:fs'
import type { Output, Schema } from '../schema/kit.ts'
import type { Path, Problem } from '../schema/problem.ts'
import { validate } from '../schema/validate.ts'
import type { ConfigLocation, LocatedProblem } from '../sources/located-problem.ts'
import { parseYaml } from '../sources/yaml/yaml.ts'
import { parseSendLine } from './send-line.ts'
import {
  expectation,
  type Expectation,
  type GivenClient,
  reply,
  type Reply,
  request,
  type Request,
  testFile,
  type TestFile,
  upstreamExpectation,
  type UpstreamExpectation,
} from './schema.ts'

/** The outcome of one or more requests, with the location of each part in the file. */
export interface ExpectedOutcome {
  readonly expected: Expectation
  /** Undefined when the request to the upstream is not checked. */
  readonly upstream: UpstreamExpectation | null | undefined
  readonly times: number
  /** The location of a field of the expectation; of the expectation itself without a field. */
  locationOf(this: void, ...field: readonly string[]): ConfigLocation
}

export interface LoadedStep {
  readonly given: GivenClient
  readonly afterMs: number
  readonly request: Request
  readonly repeat: number
  readonly outcomes: readonly ExpectedOutcome[]
}

type Replies = Readonly<Record<string, readonly Reply[]>>

export interface LoadedTest {
  readonly name: string
  readonly location: ConfigLocation
  /** Milliseconds since 1970. */
  readonly clock: number
  readonly upstreams: Replies
  readonly steps: readonly LoadedStep[]
}

export interface LoadedTests {
  readonly file: string
  readonly config: string
  readonly gateway: string | null
  readonly configLocation: ConfigLocation
  readonly world: Omit<TestFile['world'], 'upstreams' | 'clock'>
  readonly tests: readonly LoadedTest[]
}

type LoadedFile = { ok: true; value: LoadedTests } | { ok: false; problems: LocatedProblem[] }

/** Reads a file of tests; every problem is reported with its location. */
export function loadTests(file: string): LoadedFile {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const found = `cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`
    const location = { file, line: 1, column: 1 }
    const problem = { code: 'bad_format', path: [], at: 'value', found, expected: '', suggestion: null } as const
    return { ok: false, problems: [{ ...problem, location }] }
  }
  return readTests(text, file)
}

/**
 * Reads the text of a file of tests. Variables are not filled in: a test depends on nothing but its file. Without
 * `hasConfig`, the caller has the config, and `config` has no meaning.
 */
export function readTests(text: string, file: string, { hasConfig } = { hasConfig: true }): LoadedFile {
  const { value, problems, locationOf } = parseYaml(
    text.replaceAll('${', () => '$${'),
    file,
    {},
  )
  if (problems.length > 0) return { ok: false, problems }
  const checker = new Checker(locationOf)
  const whole = checker.check(testFile, hasConfig ? (value ?? {}) : withConfig(value), [])
  const loaded = whole === null ? null : new TestReader(whole, file, checker).read()
  if (loaded === null || checker.problems.length > 0) return { ok: false, problems: checker.problems }
  return { ok: true, value: loaded }
}

function withConfig(value: unknown): unknown {
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isMapping ? { config: 'config', ...value } : (value ?? { config: 'config' })
}

class Checker {
  readonly problems: LocatedProblem[] = []
  readonly locationOf: (path: Path, at: Problem['at']) => ConfigLocation

  constructor(locationOf: (path: Path, at: Problem['at']) => ConfigLocation) {
    this.locationOf = locationOf
  }

  /** The checked value; null when it has problems, which are added. */
  check<S extends Schema>(schema: S, value: unknown, path: Path): Output<S> | null {
    const result = validate(schema, value)
    if (result.ok) return result.value as Output<S>
    for (const problem of result.problems) this.add({ ...problem, path: [...path, ...problem.path] })
    return null
  }

  add(problem: Problem): void {
    this.problems.push({ ...problem, location: this.locationOf(problem.path, problem.at) })
  }
}

class TestReader {
  readonly #file: TestFile
  readonly #name: string
  readonly #checker: Checker

  constructor(file: TestFile, name: string, checker: Checker) {
    this.#file = file
    this.#name = name
    this.#checker = checker
  }

  read(): LoadedTests {
    const { config, gateway, world, tests } = this.#file
    const { upstreams, clock, ...rest } = world
    const common = this.#replies(upstreams, ['world', 'upstreams'])
    return {
      ...{ file: this.#name, config, gateway: gateway ?? null, world: rest },
      configLocation: this.#checker.locationOf(['config'], 'value'),
      tests: tests.map((test, index) => {
        const path: Path = ['tests', index]
        const own = this.#replies(test.upstreams, [...path, 'upstreams'])
        const { name, given = {} } = test
        const steps =
          test.send === undefined
            ? (test.requests ?? []).map((step, at) =>
                this.#step({ ...step, given: step.given ?? given }, [...path, 'requests', at]),
              )
            : [this.#step({ ...test, given, after: 0 }, path)]
        return {
          ...{ name, steps, upstreams: { ...common, ...own } },
          location: this.#checker.locationOf([...path, 'name'], 'value'),
          clock: Date.parse(test.clock ?? clock),
        }
      }),
    }
  }

  #step(
    step: {
      given: GivenClient
      after?: number | undefined
      send: unknown
      repeat?: number | undefined
      expect?: unknown
    },
    path: Path,
  ): LoadedStep {
    const { given, after = 0, send, expect } = step
    const outcomes = Array.isArray(expect)
      ? expect.flatMap((each, index) => this.#outcome(each, [...path, 'expect', index]) ?? [])
      : (this.#outcome(expect, [...path, 'expect']) ?? [])
    const listed = [outcomes].flat()
    const total = listed.reduce((sum, { times }) => sum + times, 0)
    const repeat = step.repeat ?? (Array.isArray(expect) ? total : 1)
    if (Array.isArray(expect) && listed.length === expect.length && total !== repeat) {
      this.#checker.add({
        ...{ code: 'conflict', path: [...path, 'expect'], at: 'key', suggestion: null },
        found: `the outcomes are those of ${total} requests, and \`repeat\` sends ${repeat}`,
        expected: '',
      })
    }
    return { given, afterMs: after, request: this.#request(send, [...path, 'send']), repeat, outcomes: listed }
  }

  #request(send: unknown, path: Path): Request {
    const form = typeof send === 'string' ? parseSendLine(send) : send
    return this.#checker.check(request, form, path) ?? { headers: {}, path: '/' }
  }

  #outcome(given: unknown, path: Path): ExpectedOutcome | null {
    const expected = this.#checker.check(expectation, given, path)
    if (expected === null) return null
    const { upstream } = expected
    const isChecked = upstream !== undefined && upstream !== null
    const checked = isChecked ? this.#checker.check(upstreamExpectation, upstream, [...path, 'upstream']) : upstream
    const { locationOf } = this.#checker
    return {
      expected,
      upstream: checked,
      times: expected.times ?? 1,
      locationOf: (...field) => locationOf([...path, ...field], 'value'),
    }
  }

  #replies(upstreams: Readonly<Record<string, unknown>>, path: Path): Replies {
    const entries = Object.entries(upstreams).map(([name, value]) => {
      const listed = Array.isArray(value)
      const checked = (listed ? (value as unknown[]) : [value]).flatMap((each, index) => {
        const made = this.#checker.check(reply, each, [...path, name, ...(listed ? [index] : [])])
        return made === null ? [] : [made]
      })
      return [name, checked] as const
    })
    return Object.fromEntries(entries)
  }
}
