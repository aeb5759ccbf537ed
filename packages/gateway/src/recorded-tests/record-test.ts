import type { JsonObject } from '../schema/kit.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import type { RunParts, TestFailure } from '../config-tests/run-tests.ts'
import { possibleClients } from './clients.ts'
import { possibleAnswers } from './recorded-answer.ts'
import type { RecordedTestResult } from './recorded-test.ts'
import { type SentRequest, sentRequest } from './sent-request.ts'
import { statedOutcome } from './stated-outcome.ts'
import { type Draft, TestBench, type TrialResult } from './test-bench.ts'

/**
 * Returns the test of a record: the request with replaced secrets, and the recorded outcome. The test passes with the
 * given config; otherwise the result is the reason why no test passes.
 */
export async function recordTest(
  record: RequestRecord,
  parts: RunParts,
  world: JsonObject = {},
): Promise<RecordedTestResult> {
  const { ir } = parts.config
  const expected = statedOutcome(record, parts.config)
  if (typeof expected === 'string') return { kind: 'impossible', reason: expected }
  const sent = sentRequest(record, ir)
  if (typeof sent === 'string') return { kind: 'impossible', reason: sent }
  const bench = new TestBench(parts, world)
  let first: TrialResult | null = null
  for (const { draft, replaced } of draftsOf(record, sent, parts)) {
    const result = await tryDraft(bench, record, { ...draft, expected })
    if (result.kind === 'passed') return { kind: 'test', test: result.test, replaced }
    first ??= result
  }
  return { kind: 'impossible', reason: first?.kind === 'failed' ? reasonOf(first) : 'it cannot be sent again' }
}

function* draftsOf(
  record: RequestRecord,
  { sends, redacted, replaced }: SentRequest,
  { config }: RunParts,
): Iterable<{ draft: Omit<Draft, 'expect'>; replaced: string[] }> {
  const common = { name: nameOf(record), clock: new Date(record.at).toISOString() }
  let count = 0
  for (const send of sends) {
    for (const client of possibleClients(record, redacted, config.ir)) {
      for (const answer of possibleAnswers(record)) {
        if (++count > MOST_DRAFTS) return
        const headers = { ...(send['headers'] as JsonObject | undefined), ...client.headers }
        yield {
          draft: {
            ...common,
            ...(Object.keys(client.given).length > 0 && { given: client.given }),
            send: { ...send, ...(Object.keys(headers).length > 0 && { headers }) },
            reply: answer.reply,
          },
          replaced: [...replaced, ...client.replaced, ...(record.attempts > 0 ? answer.replaced : [])],
        }
      }
    }
  }
}

/**
 * Runs a draft of the test. A request that a limit denied comes after the requests that use up the limit, so the test
 * repeats those first.
 */
async function tryDraft(
  bench: TestBench,
  record: RequestRecord,
  { expected, ...draft }: Omit<Draft, 'expect'> & { expected: JsonObject },
): Promise<TrialResult> {
  const result = await bench.try({ ...draft, expect: expected })
  if (result.kind === 'passed' || record.outcome !== 'limited') return result
  const before = await bench.countUntil({ ...draft, expect: expected }, record.status, MOST_BEFORE_LIMIT)
  if (before === null || before === 0) return result
  const expect = [{ times: before }, { times: 1, ...expected }]
  const repeated = await bench.try({ ...draft, repeat: before + 1, expect })
  return repeated.kind === 'passed' ? repeated : result
}

function nameOf({ method, path, status, outcome, reason, id }: RequestRecord): string {
  const by = reason?.policy ?? null
  const result = outcome === 'passed' || by === null ? String(status) : `${status} by ${by}`
  const target = path ?? ''
  const shown = target.length > MOST_PATH ? `${target.slice(0, MOST_PATH)}…` : target
  return `${method ?? ''} ${shown}: ${result} (${id})`
}

/** Returns the reason why the most probable test fails. */
function reasonOf({ failures, problem }: Extract<TrialResult, { kind: 'failed' }>): string {
  if (problem !== null) return problem
  const [failure] = failures
  return failure === undefined ? 'it cannot be sent again' : failureWords(failure)
}

function failureWords({ unknown, differences }: TestFailure): string {
  if (unknown !== '') return unknown
  const isStatus = ({ field }: (typeof differences)[number]): number => (field[0] === 'status' ? 0 : 1)
  const words = differences
    .toSorted((a, b) => isStatus(a) - isStatus(b))
    .map(({ field, expected, actual }) => `${field.join('.')} was ${expected}, and is ${actual}`)
  return `this config decides otherwise: ${words.join(', ')}`
}

const MOST_DRAFTS = 48
const MOST_BEFORE_LIMIT = 1_000
const MOST_PATH = 120
